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
/// runs keep their host, revision, configuration and time. Two rows are the same if all their columns are equal.
/// Devices and kernels are the same if their identifying columns are equal; of each other column the larger value is
/// kept. So merging twice adds nothing, and the order of merges does not matter. Trials are sorted by the time at which
/// they were created, whatever store they came from, because the latest trial of a schedule counts. Rows of `running`
/// are not merged. Both stores must have the current version. `from` may be a pack; its rows are the same as the rows
/// from which it was made. Adds all rows or none; throws Error.
std::vector<MergedTable> merge_store(const std::string& into, const std::string& from);

}  // namespace deplo::measure::upkeep
