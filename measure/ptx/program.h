// A kernel of PTX in the form that the machine executes: every operand a place in a warp's registers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

inline constexpr int warp_lanes = 32;
using Lanes = std::uint32_t;  // a bit for each lane of a warp
inline constexpr Lanes all_lanes = 0xffffffff;

/// Bytes from the start of a warp's registers. A register of 16, 32 or 64 bits has one element for each lane; a
/// predicate is a Lanes. Constants and special registers have places, too.
using RegisterPlace = std::uint32_t;

/// What happens after an instruction: the next one, a branch to its target by the lanes that execute it, the same
/// instruction again when something has changed, or the end of these lanes.
enum class Flow { next, branch, wait, end };

class Warp;
struct Instruction;
using Meaning = Flow (*)(Warp&, const Instruction&, Lanes);

/// Who must execute an instruction together: each lane for itself, all lanes of the warp that have not ended
/// (`.aligned`), or the lanes that an operand names (`.sync` with a membermask).
enum class Together : std::uint8_t { no, warp, members };

/// How far a strong operation reaches (PTX ISA, "Scope"). `device`: the system, too.
enum class Scope : std::uint8_t { block, cluster, device };

/// The part of an access in the order of memory (PTX ISA, "Memory Consistency Model"). Weak accesses have none.
struct MemoryOrder {
  bool strong = false, acquires = false, releases = false;
  bool non_coherent = false;  // ld.global.nc
  Scope scope = Scope::device;
};

/// Operands of instructions that have many, and what else they need to know.
struct Detail {
  std::vector<RegisterPlace> d, a, b, c;
  int m = 0, n = 0, k = 0;
  int format = 0;  // of elements: ir::DType as a number
  bool a_transposed = false, b_transposed = false;
  std::vector<std::uint32_t> reads, writes;  // places of registers, for the checks of asynchronous operands
};

struct Instruction {
  Meaning run = nullptr;
  RegisterPlace guard = 0;  // place 0 is a predicate that is true
  Lanes guard_flip = 0;
  RegisterPlace d = 0, a = 0, b = 0, c = 0, e = 0;
  std::uint32_t target = 0;  // a branch's
  std::int64_t number = 0;   // the offset of an address, or an immediate
  Space space = Space::generic;
  Together together = Together::no;
  bool waits = false;                // may return Flow::wait
  std::uint8_t size = 0;             // bytes of a memory access's element
  std::uint8_t size_of_address = 8;  // bytes of its base register
  MemoryOrder order = {};
  const Detail* detail = nullptr;
};

enum class Special {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  cluster_ctarank,
  cluster_nctarank,
  cluster_ctaid_x,
  cluster_nctaid_x,
  clusterid_x,
  nclusterid_x,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size,
  zero
};

/// Of the smallest register: its bits in the 32 lanes, at 16 bits each.
inline constexpr std::uint32_t slot_bytes = 64;

/// The state of registers before the first instruction.
struct Preset {
  RegisterPlace place = 0;
  int bits = 0;
  std::uint64_t value = 0;
};
struct SpecialPlace {
  RegisterPlace place = 0;
  Special which = Special::zero;
};

/// Immutable once decoded; several launches may use it at a time.
struct Program {
  std::string entry, target;
  std::vector<Instruction> code;
  std::vector<Statement> statements;  // one for each instruction
  std::deque<Detail> details;         // addresses stay
  std::uint32_t register_bytes = 0;
  std::vector<Preset> presets;
  std::vector<SpecialPlace> specials;
  std::vector<Variable> parameters;  // in order, with offsets
  std::vector<std::uint64_t> parameter_offsets;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t shared_bytes = 0;  // static, from the first byte of the window on
  bool dynamic_shared = false;
  std::uint64_t local_bytes = 0;  // a thread's
  std::vector<Variable> globals;  // of the module, in memory at global_address(number)
  std::int64_t most_threads = 0, least_blocks = 1, cluster = 1;
  bool has_wgmma = false;
  bool exact = false;       // of Values::exact
  std::size_t granule = 4;  // bytes of the smallest access to memory, at most 4
};

/// What the bits of a float stand for: its number, or an element of LaunchOptions::floats.
enum class Values : std::uint8_t { numbers, exact };

/// Throws Error in one line: an instruction that the machine does not execute, with its name and line, an entry that
/// the module lacks (with those it has), operands of other types. `entry`: as the source names it, such as "k" or
/// "space::k<float, 4>", or mangled; "": the only one.
/// With Values::exact it throws Unproved for an instruction that computes with floats and has no meaning in an
/// arithmetic.
Program decode(const Module&, const std::string& entry, Values = Values::numbers);

}  // namespace deplo::measure::ptx
