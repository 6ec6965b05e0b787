// Statistics of the machine code that trials ran. They are computed later, on request.
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
  std::string binary_digest;                    // as in a trial's Resources
  std::int64_t instructions = 0;                // of the kernel and the functions that it calls
  std::int64_t calls = 0;                       // calls of the slow paths of divisions and roots
  std::int64_t loop_instructions = 0;           // of the hot loop, like all members below; 0: the kernel has no loop
  double arithmetic_share = 0;                  // 0 to 1
  std::int64_t issue_cycles = 0;                // least cycles of a loop iteration (sass::IssueBound)
  std::string issue_limiter;                    // the unit that determines issue_cycles
  std::map<std::string, std::int64_t> classes;  // "LDS.128" → instructions
};

/// The origin of machine code that a valid trial ran, and for which the store has no statistics.
struct UnknownCode {
  std::string kernel, text;  // the kernel's name and Loop IR
  DeviceInfo device;
  std::string trail, digest, binary_digest;  // of the fastest such trial
};

/// The trials that a query selects. best: the best trial of each kernel and device. all: one trial of each valid
/// schedule. The functions below ignore Filter::status. Filter::limit applies to the whole result, which is ordered by
/// the kernels' names, then the best first.
enum class Chosen : std::uint8_t { best, all };
std::vector<UnknownCode> unknown_code(sqlite::Database&, const Filter&, Chosen);
void add_machine_code(sqlite::Database&, const MachineCode&);
/// Returns the statistics as a table for display. Statistics that the store lacks are NULL.
sqlite::Rows machine_code(sqlite::Database&, const Filter&, Chosen);

}  // namespace deplo::measure::upkeep
