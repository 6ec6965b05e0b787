// Which kernels are a matmul that libraries have.
#pragma once
#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace deplo::measure {

/// Row-major c[m, n] = a[m, k] b[k, n], for each of the batch, where the matrices lie densely one behind the other.
struct MatmulShape {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool b_transposed = false;                                    // b is [n, k]
  std::size_t a = 0, b = 1, c = 2;                              // the buffers' numbers in the program
  ir::DType factors = ir::DType::f32, result = ir::DType::f32;  // elements of a and b, all f32, f16 or bf16; and of c
  bool operator==(const MatmulShape&) const = default;
};

/// nullopt: the kernel computes something else, or more than that, or its matrices are not dense. `loop` is verified
/// Loop IR.
std::optional<MatmulShape> matmul_shape(const ir::Program& loop);

}  // namespace deplo::measure
