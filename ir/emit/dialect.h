// The differences between OpenCL C and CUDA C++, one row for each (dialect.cpp). The walk is common to both
// (emit*.cpp). Truth values are int: 0 and 1 in scalars, but 0 and -1 in the lanes of OpenCL vectors, because OpenCL's
// vector comparisons return -1 and its select expects -1. In memory a truth value is a byte, 0 or 1.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/target.h"
#include "ir/op.h"
#include "ir/types/types.h"

namespace deplo::ir {

/// The spelling of the pieces of a kernel. In OpenCL, values with several lanes are vectors. CUDA has no vector values:
/// a value of n lanes is n scalars `name_0 … name_{n-1}`, and only its memory accesses are wide.
struct Speller {
  Dialect dialect;
  std::string_view index_type;              // type of axis variables and loop counters that fit in 32 bits
  std::string_view long_type, long_suffix;  // the 64-bit integer, and the suffix of its constants
  std::string_view half_type, byte_type;    // the unsigned integers of 16 and 8 bits
  std::string_view signed_byte_type;
  // Format strings that convert an integer to its unsigned type and back: the signed type, then the integer.
  std::string_view to_unsigned, to_signed;
  std::string_view infinity;        // an expression for infinity
  std::string_view float_function;  // suffix of the names of float functions
  std::string_view kernel_head;     // format string for the block's threads, the cluster, and the kernel's name
  std::string_view global_in, global_out, restricted, shared, aligned, barrier, block_id, thread_id;
  std::string_view full_barrier;  // a barrier after which threads also see what others wrote to global memory
  std::string_view lane;          // format string for a vector's name and a lane's number
  std::string_view integer_add;   // atomic addition to an integer in memory; also to a float if `adds_floats`
  bool adds_floats;
  bool vectors;    // the dialect has native vector values
  bool ptx;        // supports inline PTX, and so every statement that stands for an NVIDIA instruction
  bool keeps_nan;  // has helpers for a maximum and a minimum that propagate NaN in one instruction
};
const Speller& speller(Dialect);
const Speller& speller(const Target&);

/// Returns `op(args)` as an expression: "fma(a, b, c)". `type`: the type of the arguments (for select, of the last
/// two), with several lanes if all are OpenCL vectors. For a lanes_ operation it has the lanes of the vector. Integer
/// arithmetic is modulo 2^32 or 2^64.
std::string call(Op, std::span<const std::string_view> args, Type type, Dialect);
/// Returns a value converted to another dtype; with several lanes, as an OpenCL vector.
std::string convert(const std::string& value, DType from, Type to, Dialect);
/// Returns a constant: "0.5f", "-INFINITY", "7". NVRTC has no INFINITY without a header, so CUDA spells it by its bits.
/// An infinity of an integer type, the neutral element of maximum or minimum, becomes the least or greatest integer.
std::string literal(double value, DType, Dialect);
/// Returns the type of a value: "float", "float16", "int4", "long" or in CUDA "long long". For the bits of 16-bit
/// floats it is the same as element_name.
std::string type_name(Type, Dialect);
/// Returns the type of elements in memory: "float", "int", "uchar"; with lanes: "uchar4". 16-bit floats are integers:
/// "ushort8" in OpenCL, "uint4" for eight in CUDA.
std::string element_name(Type, Dialect);

}  // namespace deplo::ir
