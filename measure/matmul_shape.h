// Recognises kernels that are a matmul for which libraries have a function.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace deplo::measure {

/// A row-major product c[m, n] = a[m, k] b[k, n] for each element of the batch. The matrices of a batch are stored
/// densely one after another.
struct MatmulShape {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool b_transposed = false;                                    // b is stored as [n, k]
  std::size_t a = 0, b = 1, c = 2;                              // the buffers' indices in the program
  ir::DType factors = ir::DType::f32, result = ir::DType::f32;  // types of a and b (both f32, f16 or bf16), and of c
  bool operator==(const MatmulShape&) const = default;
};

/// Returns the shape of a matmul, or nullopt if the kernel computes something else or more, or if its matrices are not
/// dense. `loop` must be verified Loop IR.
std::optional<MatmulShape> matmul_shape(const ir::Program& loop);

}  // namespace deplo::measure
