// Merges the rows of a store or a pack into another store.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure::upkeep {

struct MergedTable {
  std::string table;
  std::int64_t read = 0, added = 0;  // rows
};

/// Adds the rows of `from` that `into` does not have (`into` is created if it does not exist). Rows are not changed:
/// runs keep their host, revision, configuration and time. Two rows are the same if all their columns are equal;
/// devices and kernels are the same if their identifying columns are equal, and of their other columns the larger value
/// is kept. So merging twice adds nothing, and the order of merges does not matter. Trials are in the order of their
/// times, whatever store they came from, because the latest trial of a schedule counts. Rows of `running` are not
/// merged. Both stores must have the current version. `from` may be a pack: the rows that it was made of are the same.
/// Adds all rows or none; throws Error.
std::vector<MergedTable> merge_store(const std::string& into, const std::string& from);

}  // namespace deplo::measure::upkeep
