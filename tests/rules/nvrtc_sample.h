// Random schedules of a kernel through NVRTC, several at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"
#include "rules/nvrtc.h"

namespace deplo::rules {

struct NvrtcSample {
  int compiled = 0;
  std::vector<std::string> failures;  // trail and log of each program that did not compile
  int spilling = 0;                   // programs that hold values in memory because their registers are not enough
  std::int64_t most_registers = 0, most_shared_bytes = 0;  // shared: as the emitter says, static or not
};

/// `count` schedules of a Loop IR program, each by one random walk from `seed` on; compiled for `target.name` by
/// `threads` threads.
NvrtcSample compile_random(const Nvrtc&, const ir::Program& loop, const Target&, int count, std::uint64_t seed,
                           unsigned threads);

}  // namespace deplo::rules
