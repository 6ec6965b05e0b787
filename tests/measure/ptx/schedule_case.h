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
  int types = 0;  // 1, 2: f32 buffers are f16, bf16
  bool tf32 = false;
  std::uint64_t seed = 0;  // of the choices; 0: the heuristic's
  std::uint64_t lazy = 0;  // percentage of the choices that are the heuristic's
  bool eager = false;      // clusters, roles, slices and large tiles are chosen where there is a choice, on few units
};

/// What PtxSchedules.Many tries: `test_measure --cases COUNT --seed FIRST`.
struct ManyCases {
  std::uint64_t first = 1'000, count = 80;
};
ManyCases& many_cases();

/// The extents are such that a run takes milliseconds.
ScheduleCase random_case(std::uint64_t seed);
std::string describe(const ScheduleCase&);
ir::Program loop_of(const ScheduleCase&);
KernelCode candidate_of(const ScheduleCase&);
/// The choices, as `deplo compile --schedule` takes them.
std::string trail_of(const ScheduleCase&);

/// "" where the device computes what the reference says; else what is wrong. `status`: of a failed build.
std::string run(const ir::Program& loop, const KernelCode&, Device&);

}  // namespace deplo::measure::ptx
