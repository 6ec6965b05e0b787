// What OpenCL C and CUDA C++ spell differently. One table each (dialect.cpp); the walk is common (emit.cpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/op.h"
#include "ir/types.h"

namespace deplo::ir {

/// Source text of the pieces of a kernel. Vector values are OpenCL vectors; CUDA has none, so there a value of n lanes
/// is n scalars `name_0 … name_{n-1}`, and only its access to memory is wide.
struct Speller {
  std::string_view index_type;  // of axis variables and loop counters
  std::string_view global_in, global_out, shared, barrier, block_id, thread_id;
  bool vectors;  // native vector values
};
const Speller& speller(const Target&);

/// `op(args)` as an expression on f32 scalars or, in OpenCL, vectors: "fma(a, b, c)".
std::string call(Op, const std::vector<std::string>& args, Dialect, int lanes);
/// A constant: "0.5f", "-INFINITY". NVRTC has no INFINITY without a header, so CUDA spells it by its bits.
std::string literal(double value, Dialect);
/// "float", "float16".
std::string type_name(Type, Dialect);

}  // namespace deplo::ir
