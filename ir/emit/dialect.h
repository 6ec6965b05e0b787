// What OpenCL C and CUDA C++ spell differently. One row each (dialect.cpp); the walk is common (emit*.cpp).
// Truth values are int: 0 and 1 in scalars, 0 and -1 in the lanes of OpenCL vectors, as its comparisons give them and
// its select takes them; in memory a byte, 0 or 1.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

/// Source text of the pieces of a kernel. Vector values are OpenCL vectors; CUDA has none, so there a value of n lanes
/// is n scalars `name_0 … name_{n-1}`, and only its access to memory is wide.
struct Speller {
  Dialect dialect;
  std::string_view index_type;              // of axis variables and loop counters that 32 bits hold
  std::string_view long_type, long_suffix;  // of 64 bits, and that of its constants
  std::string_view half_type, byte_type;    // of 16 and 8 bits, unsigned
  std::string_view infinity;                // an expression
  std::string_view float_function;          // what ends the names of functions of floats
  std::string_view kernel_head;             // formats the block's threads, the cluster, and the kernel's name
  std::string_view global_in, global_out, restricted, shared, aligned, barrier, block_id, thread_id;
  std::string_view lane;         // formats a vector's name and a lane's number
  std::string_view integer_add;  // adds an integer to one in memory, atomically; floats too if `adds_floats`
  bool adds_floats;
  bool vectors;    // native vector values
  bool ptx;        // takes PTX between its lines, and so every statement that stands for instructions of NVIDIA's
  bool keeps_nan;  // has a maximum and a minimum that keep NaN, as helpers of one instruction
};
const Speller& speller(Dialect);
const Speller& speller(const Target&);

/// `op(args)` as an expression: "fma(a, b, c)". `type` is that of the arguments (of select the last two), with lanes
/// where all are OpenCL vectors; of a lanes_ operation it has the lanes of the vector.
std::string call(Op, std::span<const std::string_view> args, Type type, Dialect);
/// A value of another dtype, of `lanes` lanes as an OpenCL vector.
std::string convert(const std::string& value, DType from, Type to, Dialect);
/// A constant: "0.5f", "-INFINITY", "7". NVRTC has no INFINITY without a header, so CUDA spells it by its bits. The
/// neutral elements of an integer type are its ends.
std::string literal(double value, DType, Dialect);
/// Of a value: "float", "float16", "int4", "long" or in CUDA "long long"; of the bits of 16-bit floats what element_name gives.
std::string type_name(Type, Dialect);
/// Of elements in memory: "float", "int", "uchar"; with lanes: "uchar4". 16-bit floats are integers: "ushort8" in OpenCL,
/// "uint4" for eight in CUDA.
std::string element_name(Type, Dialect);

}  // namespace deplo::ir
