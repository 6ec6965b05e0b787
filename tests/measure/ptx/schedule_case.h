// A random schedule of a kernel for a CUDA target, and its run on the PTX machine.
#pragma once
#include <cstdint>
#include <string>

#include "ir/program.h"
#include "measure/device.h"

namespace deplo::measure::ptx {

struct ScheduleCase {
  std::string kernel, target;
  ir::Symbols symbols;
  int types = 0;  // type of the f32 buffers; 0: f32, 1: f16, 2: bf16
  bool tf32 = false;
  std::uint64_t seed = 0;  // seed of the choices; 0: the heuristic's choices
  std::uint64_t lazy = 0;  // percentage of the forks at which the heuristic's option is chosen
  // Prefers clusters, roles, slices and large tiles, on a target with few units.
  bool eager = false;
};

/// The cases of PtxSchedules.Many: `test_measure --cases COUNT --seed FIRST`.
struct ManyCases {
  std::uint64_t first = 1'000, count = 80;
};
ManyCases& many_cases();

/// Draws a case whose extents are so small that a run takes milliseconds.
ScheduleCase random_case(std::uint64_t seed);
std::string describe(const ScheduleCase&);
ir::Program loop_of(const ScheduleCase&);
KernelCode candidate_of(const ScheduleCase&);
/// Returns the choices in the form that `deplo compile --schedule` takes.
std::string trail_of(const ScheduleCase&);

/// Returns "" if the device's outputs match the reference, and otherwise what is wrong.
std::string run(const ir::Program& loop, const KernelCode&, Device&);

}  // namespace deplo::measure::ptx
