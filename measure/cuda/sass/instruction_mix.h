// What the instructions of a loop or of a kernel are, counted, and how fast a multiprocessor can issue them at best.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cuda/sass/control_flow.h"
#include "measure/cuda/sass/instruction_class.h"
#include "measure/cuda/sass/listing.h"

namespace deplo::measure::cuda::sass {

struct InstructionMix {
  std::map<Kind, std::int64_t> kinds;
  std::map<Pipe, std::int64_t> pipes;  // Pipe::memory: transfers of 128 bytes, as few as the widths allow
  std::int64_t instructions = 0;
  std::int64_t calls = 0;         // of other functions: divisions and roots by the long way
  std::set<std::string> unknown;  // mnemonics that count as `other`

  void add(const Instruction&, const Listing&);
  /// Instructions that compute what the kernel is for (is_arithmetic).
  std::int64_t arithmetic() const;
  /// Of all instructions; 0 where there are none.
  double arithmetic_share() const;
};

/// The least cycles in which a scheduler can issue the instructions once for one warp, if each of the four schedulers of
/// a multiprocessor has a warp that does the same; and by which unit. Latencies, bank conflicts and misses come on top.
struct IssueBound {
  std::int64_t cycles = 0;
  Pipe limiter = Pipe::issue;
};
/// `architecture`: "sm_90".
IssueBound issue_bound(const InstructionMix&, std::string_view architecture);

struct LoopMix {
  std::string function, label;
  std::size_t depth = 0;
  InstructionMix mix;  // every instruction of the loop once: those behind conditions, and of loops within, too
};

/// All of the kernel's code, with the functions that it calls, and its loops.
struct KernelMix {
  InstructionMix whole;
  std::vector<LoopMix> loops;
};
KernelMix kernel_mix(const Listing&);

/// Where the kernel spends its time, as far as the code alone can say: the loop with the most arithmetic of its own,
/// outside the loops within it; where no loop has any, the one with the most instructions of its own. Null of a kernel
/// without loops.
const LoopMix* hot_loop(const KernelMix&);

}  // namespace deplo::measure::cuda::sass
