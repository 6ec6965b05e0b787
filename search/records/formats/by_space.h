// Collects the spaces of a file whose lines belong to several spaces.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "search/records/formats/formats.h"
#include "search/records/formats/parts/sparse.h"

namespace deplo::search::records {

class BySpace {
 public:
  /// The source's format records only times. Throws Error if another objective is chosen.
  explicit BySpace(const Source&);
  /// Returns the space with this key. Creates the space if the key is new.
  SparseRecords& of(const std::string& key, const std::string& kernel, const std::string& device = "",
                    const std::string& problem_size = "");
  /// Returns the spaces in order of first appearance, without those that have no knob. Throws Error if no space is
  /// left.
  std::vector<Records> finish(bool drops_constants = false) const;

 private:
  std::string place_;
  std::vector<SparseRecords> spaces_;
  std::map<std::string, std::size_t> numbers_;
};

/// Returns the texts as a problem size in JSON. More than 16 texts are joined to one.
std::string problem_size_json(const std::vector<std::string>& texts);
/// Returns "matmul" for "folder/matmul.autotune.json": the kernel's name if the file does not contain it.
std::string stem_of(const std::string& place);

}  // namespace deplo::search::records
