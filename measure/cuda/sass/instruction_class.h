// The class of each instruction of NVIDIA's GPUs, and the unit of a multiprocessor that executes it: one table of
// opcodes.
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
  tensor,         // products of matrices
  special,        // reciprocal, square root, exponential, logarithm, sine
  compare,        // minimum, comparison and selection of floats
  integer,        // including addresses, logic and shifts
  convert,        // between types
  move,           // between registers, and from constants and special registers
  shuffle,        // between the lanes of a warp
  constant,       // loads of parameters and constants
  shared_load,    //
  shared_store,   //
  global_load,    //
  global_store,   //
  generic_load,   // from addresses in any memory, for example another block's shared memory
  generic_store,  //
  local,          // loads and stores of a thread's own memory: spilled registers
  async_copy,     // from global to shared memory; each thread copies a part
  bulk_copy,      // between global and shared memory, in both directions, by the copy engine
  atomic,         // including reductions
  barrier,        // including waits and fences
  control,        // branches, calls, masks of threads
  other,          // an opcode that is not in the table
};

/// "fp32"; for classes with a width, the mnemonic: "LDS".
std::string_view name(InstructionClass);
/// True for classes that do the kernel's actual work: floating point, without comparisons.
bool is_arithmetic(InstructionClass);

/// An instruction's class and width. `width`: the bytes per thread if it moves data, else 0.
struct Kind {
  InstructionClass what = InstructionClass::other;
  int width = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
  auto operator<=>(const Kind&) const = default;
};
/// "fp32", "LDS.128".
std::string name(const Kind&);

/// Nsight Compute, Profiling Guide, "Pipelines".
enum class Pipe : std::uint8_t {
  issue,    // only the scheduler's slot counts: the unit has no published throughput, or each scheduler has its own
  fma,      // FP32 arithmetic
  imad,     // integer multiplication, by the half of the FMA unit that supports it
  alu,      // the other integer instructions and comparisons
  special,  // transcendental functions
  tensor,   // products of matrices by HMMA
  memory,   // loads, stores and shuffles; all schedulers share it
};
std::string_view name(Pipe);

/// One opcode, or a mnemonic with its first modifier.
struct Opcode {
  std::string_view name;  // "IMAD.MOV"
  InstructionClass what;
  Pipe pipe;
};
std::span<const Opcode> opcodes();

Kind kind_of(const Instruction&);
Pipe pipe_of(const Instruction&);

}  // namespace deplo::measure::cuda::sass
