// Counts the instructions of a loop or a kernel, and bounds how fast a multiprocessor can issue them.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cuda/sass/control_flow.h"
#include "measure/cuda/sass/instruction_class.h"
#include "measure/cuda/sass/listing.h"

namespace deplo::measure::cuda::sass {

struct InstructionMix {
  std::map<Kind, std::int64_t> kinds;
  /// The load of each pipe. For Pipe::memory: transfers of 128 bytes, as few as the widths allow. For Pipe::tensor:
  /// multiply-adds. For the others: instructions.
  std::map<Pipe, std::int64_t> pipes;
  std::int64_t instructions = 0;
  std::int64_t calls = 0;         // calls of other functions, which are the slow paths of divisions and roots
  std::set<std::string> unknown;  // mnemonics that are counted as `other`

  void add(const Instruction&, const Listing&);
  /// Number of instructions for which is_arithmetic() is true.
  std::int64_t arithmetic() const;
  /// arithmetic() as a share of all instructions; 0 if there are none.
  double arithmetic_share() const;
};

/// The smallest number of cycles in which a scheduler can issue the instructions once for one warp, while each of the
/// four schedulers of a multiprocessor does the same, and the unit that limits it. Latencies, bank conflicts and cache
/// misses come on top.
struct IssueBound {
  std::int64_t cycles = 0;
  Pipe limiter = Pipe::issue;
};
/// `architecture`: for example "sm_90".
IssueBound issue_bound(const InstructionMix&, std::string_view architecture);

struct LoopMix {
  std::string function, label;
  std::size_t depth = 0;
  InstructionMix mix;  // counts every instruction of the loop once, including conditional ones and those of inner loops
};

/// The mix of the whole code of a kernel, including the functions that it calls, and the mixes of its loops.
struct KernelMix {
  InstructionMix whole;
  std::vector<LoopMix> loops;
};
KernelMix kernel_mix(const Listing&);

/// Returns the loop in which the kernel probably spends its time: the loop with the most arithmetic outside of its
/// inner loops, or, if no loop has any arithmetic, the loop with the most instructions outside of its inner loops.
/// Returns null if the kernel has no loops.
const LoopMix* hot_loop(const KernelMix&);

}  // namespace deplo::measure::cuda::sass
