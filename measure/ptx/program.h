// A PTX kernel in the form that the machine executes: each operand is a place in the registers of a warp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

inline constexpr int warp_lanes = 32;
using Lanes = std::uint32_t;  // one bit per lane of a warp
inline constexpr Lanes all_lanes = 0xffffffff;

/// Byte offset into the registers of a warp. A register of 16, 32 or 64 bits has one element per lane; a predicate is a
/// Lanes. Constants and special registers have places, too.
using RegisterPlace = std::uint32_t;

/// What happens after an instruction. `next`: the next instruction runs. `branch`: the lanes that executed the
/// instruction go to its target. `wait`: the same instruction runs again when something has changed. `end`: these lanes
/// end.
enum class Flow { next, branch, wait, end };

class Block;
class Warp;
struct Instruction;
using Meaning = Flow (*)(Warp&, const Instruction&, Lanes);

/// Which lanes must execute an instruction together. `no`: each lane executes it on its own. `warp`: all lanes of the
/// warp that have not ended (`.aligned`). `full_warp`: all 32 lanes, none of which may have ended. `members`: the lanes
/// that an operand names (`.sync` with a membermask).
enum class Together : std::uint8_t { no, warp, full_warp, members };

/// Scope of a strong operation (PTX ISA, "Scope"). `device` stands for the system scope, too.
enum class Scope : std::uint8_t { block, cluster, device };

/// Memory ordering of an access (PTX ISA, "Memory Consistency Model"). A weak access has the default values.
struct MemoryOrder {
  bool strong = false, acquires = false, releases = false;
  bool non_coherent = false;  // ld.global.nc
  Scope scope = Scope::device;
};

/// Operands of instructions with more operands than Instruction has members, and further data of such instructions.
struct Detail {
  std::vector<RegisterPlace> d, a, b, c;
  int m = 0, n = 0, k = 0;
  int format = 0;  // of elements: in matrix.cpp an Element as a number; in cvt the bits of the destination's type
  bool a_transposed = false, b_transposed = false;
  // registers that the instruction reads and writes, for the checks of asynchronous operands
  std::vector<std::uint32_t> reads, writes;
};

struct Instruction {
  Meaning run = nullptr;
  RegisterPlace guard = 0;  // place 0 holds a predicate that is always true
  Lanes guard_flip = 0;
  RegisterPlace d = 0, a = 0, b = 0, c = 0, e = 0;
  std::uint32_t target = 0;  // of a branch: the number of the instruction to go to
  std::int64_t number = 0;   // the offset of an address, or an immediate operand
  Space space = Space::generic;
  Together together = Together::no;
  bool waits = false;                // may return Flow::wait
  std::uint8_t size = 0;             // bytes of a memory access
  std::uint8_t size_of_address = 8;  // bytes of the base register of the address
  MemoryOrder order = {};
  const Detail* detail = nullptr;
};

/// Bytes of the smallest register: 32 lanes of 16 bits.
inline constexpr std::uint32_t slot_bytes = 64;

/// Initial value of a register in all lanes, before the first instruction.
struct Preset {
  RegisterPlace place = 0;
  int bits = 0;
  std::uint64_t value = 0;
};
/// A lane of a block's warp.
struct LanePlace {
  const Block& block;
  std::int64_t warp;
  std::uint32_t lane;
};
/// A special register, as the function that returns its value in a lane (special_registers.h).
using Special = std::int64_t (*)(const LanePlace&);
struct SpecialPlace {
  RegisterPlace place = 0;
  Special value = nullptr;
};

/// A decoded kernel. It is immutable, so several launches may use it at the same time.
struct Program {
  std::string entry, target;
  std::vector<Instruction> code;
  std::vector<Statement> statements;  // one entry per instruction
  std::deque<Detail> details;         // a deque, because instructions point to its elements
  std::uint32_t register_bytes = 0;
  std::vector<Preset> presets;
  std::vector<SpecialPlace> specials;
  std::vector<Variable> parameters;  // in declaration order; parameter_offsets has their offsets in bytes
  std::vector<std::uint64_t> parameter_offsets;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t shared_bytes = 0;  // static shared memory, from the first byte of the window on
  bool dynamic_shared = false;
  std::uint64_t local_bytes = 0;  // per thread
  std::vector<Variable> globals;  // variables of the module; number i is at global_address(first_module_variable + i)
  std::int64_t max_threads = 0, least_blocks = 1, cluster = 1;
  bool has_wgmma = false;
  bool exact = false;       // decoded with Values::exact
  std::size_t granule = 4;  // bytes of the smallest memory access, at most 4
};

/// What the bits of a float stand for: the number itself, or an element of LaunchOptions::floats.
enum class Values : std::uint8_t { numbers, exact };

/// Decodes a kernel of the module. `entry`: its name in the source, such as "k" or "space::k<float, 4>", or its mangled
/// name; "": the only entry of the module. Throws a one-line Error if the machine does not execute an instruction (with
/// the instruction's name and line), if the module does not have the entry, or has several with this name, such as
/// instances of a template (with the entries that it has), or if an operand has the wrong type. With Values::exact,
/// throws Unproved if an instruction computes with floats and has no meaning in an arithmetic.
Program decode(const Module&, const std::string& entry, Values = Values::numbers);

}  // namespace deplo::measure::ptx
