// The files of a space's arrays, converted to one-dimensional .npy files, because a kernel's arrays have one dimension.
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
  /// `folder` is the folder of the space's file. Relative paths start there.
  explicit ArrayFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::string path(const std::string& file) const;
  /// Returns the file itself, or the path of a copy with the same elements in one dimension. A file with another number
  /// of elements is returned unchanged: its readers report the error.
  std::string flat(const std::string& file, std::int64_t elements);
  /// Returns the path of a .npy file. `text` is FILE.npy or "FILE.npz:NAME"; NAME defaults to `name`, the argument's
  /// name.
  std::string array(const std::string& text, const std::string& name);
  /// Converts a file of raw elements to .npy and returns its path. `source` is the key that names the file.
  std::string raw(const Config& source, ir::DType, std::int64_t elements);
  /// Writes the values to a .npy file and returns its path. `source` says where the values come from, for messages.
  std::string values(const ir::Numbers&, ir::DType, const std::string& source);

  /// Returns the folder of the files that were written, or null if there are none. The folder exists until its last
  /// owner releases it.
  std::shared_ptr<const measure::WorkFolder> made() const { return made_; }

 private:
  std::string write(const std::string& bytes, const std::string& source);

  std::filesystem::path folder_;
  std::shared_ptr<const measure::WorkFolder> made_;
  int next_ = 0;
};

}  // namespace deplo::engine::foreign
