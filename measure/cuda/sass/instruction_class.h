// The class of each instruction of NVIDIA's GPUs, and the unit of a multiprocessor that executes it. One table of
// opcodes has both.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "measure/cuda/sass/listing.h"

namespace deplo::measure::cuda::sass {

enum class InstructionClass : std::uint8_t {
  fp32,           // additions, multiplications and fused multiply-adds
  half,           // 16-bit arithmetic, two elements at a time
  fp64,           //
  tensor,         // matrix products
  special,        // reciprocal, square root, exponential, logarithm, sine
  compare,        // minimum, comparison and selection of floats
  integer,        // including addresses, logic and shifts
  convert,        // conversions between types
  move,           // moves between registers, and from constants and special registers
  shuffle,        // exchanges between the lanes of a warp
  constant,       // loads of parameters and constants
  shared_load,    //
  shared_store,   //
  global_load,    //
  global_store,   //
  generic_load,   // loads from addresses in any memory, for example in another block's shared memory
  generic_store,  //
  local,          // loads and stores of a thread's local memory: spilled registers
  async_copy,     // copies from global to shared memory; each thread copies a part
  bulk_copy,      // copies between global and shared memory, in both directions, by the copy engine
  atomic,         // including reductions
  barrier,        // including waits and fences
  control,        // branches, calls, thread masks
  other,          // an opcode that is not in the table
};

/// Returns the name of a class, such as "fp32"; for classes with a width, the mnemonic, such as "LDS".
std::string_view name(InstructionClass);
/// True for classes that do the kernel's actual work: floating-point arithmetic, without comparisons.
bool is_arithmetic(InstructionClass);

/// An instruction's class and width. `width`: the bytes per thread if it moves data, else 0.
struct Kind {
  InstructionClass what = InstructionClass::other;
  int width = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
  auto operator<=>(const Kind&) const = default;
};
/// Returns the name of a kind, such as "fp32" or "LDS.128".
std::string name(const Kind&);

/// The units of a multiprocessor (Nsight Compute, Profiling Guide, "Pipelines").
enum class Pipe : std::uint8_t {
  issue,    // only the issue slot counts: the unit has no published throughput, or each scheduler has its own unit
  fma,      // FP32 arithmetic
  imad,     // integer multiplication, by the half of the FMA unit that supports it
  alu,      // all other integer instructions, and comparisons
  special,  // transcendental functions
  tensor,   // matrix products by HMMA and HGMMA
  memory,   // loads, stores and shuffles; all schedulers share this unit
};
std::string_view name(Pipe);

/// A row of the table: a mnemonic, or a mnemonic with its first modifier.
struct Opcode {
  std::string_view name;  // for example "IMAD.MOV"
  InstructionClass what;
  Pipe pipe;
};
std::span<const Opcode> opcodes();

Kind kind_of(const Instruction&);
Pipe pipe_of(const Instruction&);

}  // namespace deplo::measure::cuda::sass
