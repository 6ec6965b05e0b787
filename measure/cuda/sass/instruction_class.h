// What the instructions of NVIDIA's GPUs do, and which unit of a multiprocessor executes them: one table of opcodes.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "measure/cuda/sass/listing.h"

namespace deplo::measure::cuda::sass {

enum class InstructionClass : std::uint8_t {
  fp32,           // additions, multiplications and both in one
  half,           // of 16 bits, two at a time
  fp64,           //
  tensor,         // products of matrices
  special,        // reciprocal, square root, exponential, logarithm, sine
  compare,        // minimum, comparison and choice of floats
  integer,        // with addresses, logic and shifts
  convert,        // between types
  move,           // between registers, of constants and of special registers
  shuffle,        // between the lanes of a warp
  constant,       // loads of parameters and constants
  shared_load,    //
  shared_store,   //
  global_load,    //
  global_store,   //
  generic_load,   // by addresses of any memory, as of another block's shared memory
  generic_store,  //
  local,          // loads and stores of a thread's own memory: spilled registers
  async_copy,     // global to shared memory, a thread's part at a time
  bulk_copy,      // the same, and back, by the copy engine
  atomic,         // and reductions
  barrier,        // with waits and fences
  control,        // branches, calls, masks of threads
  other,          // an opcode that the table does not have
};

/// "fp32"; the mnemonic of what has a width: "LDS".
std::string_view name(InstructionClass);
/// Does it compute what the kernel is for: floating point, but no comparisons?
bool is_arithmetic(InstructionClass);

/// Class and, of what moves data, the bytes of a thread.
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
  issue,    // only the scheduler's slot counts: the unit has no published throughput, or each scheduler its own
  fma,      // FP32 arithmetic
  imad,     // integer multiplication, by the half of the FMA unit that can
  alu,      // the other integer instructions and comparisons
  special,  // transcendental functions
  tensor,   // products of matrices by HMMA
  memory,   // loads, stores and shuffles, of all schedulers together
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
