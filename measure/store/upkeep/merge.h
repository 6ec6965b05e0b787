// One store's rows into another.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure::upkeep {

struct MergedTable {
  std::string table;
  std::int64_t read = 0, added = 0;  // rows
};

/// Adds what `from` has and `into` (created where there is none) has not; every row keeps what it says: runs their
/// host, revision, configuration and time. A row is known where all its columns are the same, devices and kernels where
/// what identifies them is; of their other columns the larger value stays. So merging twice adds nothing, and the order
/// of merging makes no difference. Trials stand in the order of their times, whatever store they came from: the latest
/// of a schedule is the one that counts. What is being measured (`running`) stays with the one who measures it. Both
/// are of the current version. All or nothing; throws Error.
std::vector<MergedTable> merge_store(const std::string& into, const std::string& from);

}  // namespace deplo::measure::upkeep
