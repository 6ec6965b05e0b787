// The files of a space's arrays: as .npy files of one dimension, because a kernel knows no others.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/config.h"
#include "ir/types/numbers.h"
#include "measure/work_folder.h"

namespace deplo::engine::foreign {

class ArrayFiles {
 public:
  /// `folder`: of the space, from which relative paths lead.
  explicit ArrayFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string path(const std::string& file) const;
  /// The file, or one with the same elements in one dimension. Files with another number of elements are left to those
  /// who read them.
  std::string flat(const std::string& file, std::int64_t elements);
  /// FILE.npy, or the array NAME of "FILE.npz:NAME": by default the one with the argument's name.
  std::string array(const std::string& text, const std::string& name);
  /// A file of the elements alone, as .npy. `source`: the key that names it.
  std::string raw(const Config& source, ir::DType, std::int64_t elements);
  /// A file of these values. `source`: where they are from, for messages.
  std::string values(const ir::Numbers&, ir::DType, const std::string& source);

  /// Where the files are that were made, as long as anybody has it; null: none was.
  std::shared_ptr<const measure::WorkFolder> made() const { return made_; }

 private:
  std::string write(const std::string& bytes, const std::string& source);

  std::filesystem::path folder_;
  std::shared_ptr<const measure::WorkFolder> made_;
  int next_ = 0;
};

}  // namespace deplo::engine::foreign
