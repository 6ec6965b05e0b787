// The spaces of a file whose lines belong to several.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "search/records/formats/formats.h"
#include "search/records/formats/parts/sparse.h"

namespace deplo::search::records {

class BySpace {
 public:
  /// For a format that records times only. Throws Error if another objective is chosen.
  explicit BySpace(const Source&);
  /// The space with this key, which is made if it is new.
  SparseRecords& of(const std::string& key, const std::string& kernel, const std::string& device = "",
                    const std::string& problem_size = "");
  /// In the order in which they came, without those that have no knob. Throws Error if none is left.
  std::vector<Records> finish(bool drops_constants = false) const;

 private:
  std::string place_;
  std::vector<SparseRecords> spaces_;
  std::map<std::string, std::size_t> numbers_;
};

/// A problem size as JSON from the texts; more than 16 become one.
std::string problem_size_json(const std::vector<std::string>& texts);
/// "matmul" of "folder/matmul.autotune.json": the kernel's name, of a file that does not say it.
std::string stem_of(const std::string& place);

}  // namespace deplo::search::records
