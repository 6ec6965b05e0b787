// Figures of the machine code that trials ran: made afterwards, and by those who ask for them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/device_info.h"
#include "measure/sqlite/rows.h"
#include "measure/store/upkeep/report.h"

namespace deplo::measure::upkeep {

/// A row of table `machine_code`.
struct MachineCode {
  std::string binary_digest;                    // as of a trial's resources
  std::int64_t instructions = 0;                // of the kernel and of what it calls
  std::int64_t calls = 0;                       // of divisions and roots by the long way
  std::int64_t loop_instructions = 0;           // of the hot loop, as all that follows; 0: the kernel has no loop
  double arithmetic_share = 0;                  // 0 to 1
  std::int64_t issue_cycles = 0;                // of a trip, at least
  std::string issue_limiter;                    // by which unit
  std::map<std::string, std::int64_t> classes;  // "LDS.128" → instructions
};

/// Machine code that a valid trial ran, and that the store has no figures of: what it was made from.
struct UnknownCode {
  std::string kernel, text;  // its name, its Loop IR
  DeviceInfo device;
  std::string trail, digest, binary_digest;  // of the fastest such trial
};

/// Which trials: of each kernel and device the best, or one of each valid schedule. Filter::status is not looked at;
/// Filter::limit is of the whole answer, in the order of the kernels' names, the fastest first.
enum class Chosen : std::uint8_t { best, all };
std::vector<UnknownCode> unknown_code(sqlite::Database&, const Filter&, Chosen);
void add_machine_code(sqlite::Database&, const MachineCode&);
/// For people; figures are NULL where the store has none.
sqlite::Rows machine_code(sqlite::Database&, const Filter&, Chosen);

}  // namespace deplo::measure::upkeep
