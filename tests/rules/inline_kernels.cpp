#include "rules/inline_kernels.h"

#include <array>

namespace deplo::rules {
namespace {

constexpr std::array<InlineKernel, 41> all = {{
    {"conv2d", R"(=== loop: conv2d ===
symbols B, O, H, W
input x: f32[B, 4, H, W]
input w: f32[O, 4, 3, 3]
input b: f32[O]
output y: f32[B, O, H, W]
for a0 in 0..B: # free
  for a1 in 0..O: # free
    for a2 in 0..H: # free
      for a3 in 0..W: # free
        for a4 in 0..36: # reduce
          in0 = load x[a0, (a4 / 9), (max(min((a2 + ((a4 / 3) % 3)), H), 1) - 1), (max(min((a3 + (a4 % 3)), W), 1) - 1)]
          in1 = load w[a1, (a4 / 9), ((a4 / 3) % 3), (a4 % 3)]
          v0:bool = index (((0 < (a2 + ((a4 / 3) % 3))) && ((a2 + ((a4 / 3) % 3)) < (H + 1))) && ((0 < (a3 + (a4 % 3))) && ((a3 + (a4 % 3)) < (W + 1))))
          v1 = select(v0, in0, 0)
          v2 = multiply(v1, in1)
          acc0 <- add(acc0, v2)
        in2 = load b[a1]
        v3 = add(acc0, in2)
        y[a0, a1, a2, a3] = v3
)"},
    {"conv2d_rows", R"(=== loop: conv2d_rows ===
symbols O, R
input x: f32[R, 9, 4]
input w: f32[3, 3, 4, O]
output y: f32[O, R]
for a0 in 0..R: # free
  for a1 in 0..O: # free
    for a2 in 0..36: # reduce
      in0 = load x[min(((a0 / 7) + (a2 / 12)), (R - 1)), ((a0 % 7) + ((a2 / 4) % 3)), (a2 % 4)]
      in1 = load w[(a2 / 12), ((a2 / 4) % 3), (a2 % 4), a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    y[a1, a0] = acc0
)"},
    // Of three channels, with weights as PyTorch stores them: a chunk walks the channels and the elements of the kernel.
    {"conv2d_stem", R"(=== loop: conv2d_stem ===
symbols O, R
input x: f32[R, 9, 3]
input w: f32[O, 3, 9]
output y: f32[R, O]
for a0 in 0..R: # free
  for a1 in 0..O: # free
    for a2 in 0..27: # reduce
      in0 = load x[min(((a0 / 7) + (a2 / 9)), (R - 1)), ((a0 % 7) + ((a2 / 3) % 3)), (a2 % 3)]
      in1 = load w[a1, (a2 % 3), (a2 / 3)]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    y[a0, a1] = acc0
)"},
    {"conv2d_lines", R"(=== loop: conv2d_lines ===
symbols O, R
input x: f32[R, 9, 16]
input w: f32[3, 3, 16, O]
output y: f32[R, O]
for a0 in 0..R: # free
  for a1 in 0..O: # free
    for a2 in 0..144: # reduce
      in0 = load x[min(((a0 / 7) + (a2 / 48)), (R - 1)), ((a0 % 7) + ((a2 / 16) % 3)), (a2 % 16)]
      in1 = load w[(a2 / 48), ((a2 / 16) % 3), (a2 % 16), a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    y[a0, a1] = acc0
)"},
    {"conv2d_grouped", R"(=== loop: conv2d_grouped ===
symbols B, H, W
input x: f32[B, 6, H, W]
input w: f32[8, 3, 3, 3]
output y: f32[B, 8, H, W]
for a0 in 0..B: # free
  for a1 in 0..8: # free
    for a2 in 0..H: # free
      for a3 in 0..W: # free
        for a4 in 0..27: # reduce
          in0 = load x[a0, (((a1 / 4) * 3) + (a4 / 9)), (max(min((a2 + ((a4 / 3) % 3)), H), 1) - 1), (max(min((a3 + (a4 % 3)), W), 1) - 1)]
          in1 = load w[a1, (a4 / 9), ((a4 / 3) % 3), (a4 % 3)]
          v0:bool = index (((0 < (a2 + ((a4 / 3) % 3))) && ((a2 + ((a4 / 3) % 3)) < (H + 1))) && ((0 < (a3 + (a4 % 3))) && ((a3 + (a4 % 3)) < (W + 1))))
          v1 = select(v0, in0, 0)
          v2 = multiply(v1, in1)
          acc0 <- add(acc0, v2)
        y[a0, a1, a2, a3] = acc0
)"},
    {"conv2d_depthwise", R"(=== loop: conv2d_depthwise ===
symbols C, H, W
input x: f32[C, H, W]
input w: f32[C, 3, 3]
output y: f32[C, H, W]
for a0 in 0..C: # free
  for a1 in 0..H: # free
    for a2 in 0..W: # free
      for a3 in 0..9: # reduce
        in0 = load x[a0, (max(min((a1 + (a3 / 3)), H), 1) - 1), (max(min((a2 + (a3 % 3)), W), 1) - 1)]
        in1 = load w[a0, (a3 / 3), (a3 % 3)]
        v0:bool = index (((0 < (a1 + (a3 / 3))) && ((a1 + (a3 / 3)) < (H + 1))) && ((0 < (a2 + (a3 % 3))) && ((a2 + (a3 % 3)) < (W + 1))))
        v1 = select(v0, in0, 0)
        v2 = multiply(v1, in1)
        acc0 <- add(acc0, v2)
      y[a0, a1, a2] = acc0
)"},
    {"conv2d_dilated", R"(=== loop: conv2d_dilated ===
symbols O, H, W, Y, X
input x: f32[4, H, W]
input w: f32[O, 4, 3, 3]
output y: f32[O, Y, X]
for a0 in 0..O: # free
  for a1 in 0..Y: # free
    for a2 in 0..X: # free
      for a3 in 0..36: # reduce
        in0 = load x[(a3 / 9), (max(min(((a1 * 2) + (((a3 / 3) % 3) * 2)), (H + 1)), 2) - 2), (max(min(((a2 * 2) + ((a3 % 3) * 2)), (W + 1)), 2) - 2)]
        in1 = load w[a0, (a3 / 9), ((a3 / 3) % 3), (a3 % 3)]
        v0:bool = index (((1 < ((a1 * 2) + (((a3 / 3) % 3) * 2))) && (((a1 * 2) + (((a3 / 3) % 3) * 2)) < (H + 2))) && ((1 < ((a2 * 2) + ((a3 % 3) * 2))) && (((a2 * 2) + ((a3 % 3) * 2)) < (W + 2))))
        v1 = select(v0, in0, 0)
        v2 = multiply(v1, in1)
        acc0 <- add(acc0, v2)
      y[a0, a1, a2] = acc0
)"},
    {"conv2d_transposed", R"(=== loop: conv2d_transposed ===
symbols O, H, W, Y, X
input x: f32[4, H, W]
input w: f32[4, O, 3, 3]
output y: f32[O, Y, X]
for a0 in 0..O: # free
  for a1 in 0..Y: # free
    for a2 in 0..X: # free
      for a3 in 0..36: # reduce
        in0 = load x[(a3 / 9), max(min((((a1 - ((a3 / 3) % 3)) + 1) / 2), (H - 1)), 0), max(min((((a2 - (a3 % 3)) + 1) / 2), (W - 1)), 0)]
        in1 = load w[(a3 / 9), a0, ((a3 / 3) % 3), (a3 % 3)]
        v0:bool = index ((((((a1 - ((a3 / 3) % 3)) + 1) % 2) == 0) && ((-1 < (((a1 - ((a3 / 3) % 3)) + 1) / 2)) && ((((a1 - ((a3 / 3) % 3)) + 1) / 2) < H))) && (((((a2 - (a3 % 3)) + 1) % 2) == 0) && ((-1 < (((a2 - (a3 % 3)) + 1) / 2)) && ((((a2 - (a3 % 3)) + 1) / 2) < W))))
        v1 = select(v0, in0, 0)
        v2 = multiply(v1, in1)
        acc0 <- add(acc0, v2)
      y[a0, a1, a2] = acc0
)"},
    {"scan_of_runs", R"(=== loop: scan_of_runs ===
symbols M, N, L
input x: f32[M, N, L]
output y: f32[M, N, L]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..L: # free
      for a3 in 0..N: # reduce
        in0 = load x[a0, a3, (L - 1)]
        v0:bool = index (a3 < a1)
        v1 = select(v0, in0, 0)
        acc0 <- add(acc0, v1)
      in1 = load x[a0, a1, a2]
      v2 = add(in1, acc0)
      y[a0, a1, a2] = v2
)"},
    {"argsort_ranks", R"(=== loop: argsort_ranks ===
symbols M, N
input x: f32[M, N]
output y: i32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    in0 = load x[a0, a1]
    v0:bool = equal(in0, in0)
    for a2 in 0..N: # reduce
      in1 = load x[a0, a2]
      v1:bool = less_equal(in1, in0)
      v2:bool = logical_not(v1)
      v3:bool = logical_and(v0, v2)
      v4:bool = logical_not(v3)
      v5:bool = less_equal(in0, in1)
      v6:bool = logical_not(v5)
      v7:bool = equal(in1, in1)
      v8:bool = logical_and(v7, v6)
      v9:bool = index (a2 < a1)
      v10:bool = select(v9, v4, v8)
      v11:i32 = copy(v10)
      acc0:i32 <- add(acc0, v11)
    y[a0, a1] = acc0
)"},
    {"scatter_sums", R"(=== loop: scatter_sums ===
symbols M, N, K
input z: i32[K]
input x: f32[K, N]
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    v0:i32 = index a0
    for a2 in 0..K: # reduce
      in0:i32 = load z[a2]
      in1 = load x[a2, a1]
      v1:bool = equal(in0, v0)
      v2 = select(v1, in1, 0)
      acc0 <- add(acc0, v2)
    y[a0, a1] = acc0
)"},
    {"lstm_cell", R"(=== loop: lstm_cell ===
symbols M, N
input x: f32[4, M, N]
input c: f32[M, N]
output d: f32[M, N]
output h: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    in0 = load x[1, a0, a1]
    in1 = load c[a0, a1]
    in2 = load x[0, a0, a1]
    in3 = load x[2, a0, a1]
    in4 = load x[3, a0, a1]
    v0 = sigmoid(in0)
    v1 = multiply(v0, in1)
    v2 = sigmoid(in2)
    v3 = tanh(in3)
    v4 = multiply(v2, v3)
    v5 = add(v1, v4)
    d[a0, a1] = v5
    v6 = tanh(v5)
    v7 = sigmoid(in4)
    v8 = multiply(v7, v6)
    h[a0, a1] = v8
)"},
    {"row_scan", R"(=== loop: row_scan ===
symbols M, N
input x: f32[M, N]
input s: f32[M]
output y: f32[M, N]
output total: f32[M]
for a0 in 0..M: # free
  in0 = load s[a0]
  for a1 in 0..N: # scan
    in1 = load x[a0, a1]
    acc0 <- add(acc0, in1)
    v0 = multiply(acc0, in0)
    y[a0, a1] = v0
  total[a0] = acc0
)"},
    {"column_scan", R"(=== loop: column_scan ===
symbols M, N
input x: f32[M, N]
output y: f32[M, N]
for a0 in 0..N: # free
  for a1 in 0..M: # scan
    in0 = load x[(M - 1 - a1), a0]
    acc0 <- add(acc0, in0)
    y[(M - 1 - a1), a0] = acc0
)"},
    {"scan_of_parts", R"(=== loop: scan_of_parts ===
symbols M, N, L
input x: f32[M, N, L]
input ends: f32[M, N]
output y: f32[M, N, L]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    in0 = load ends[a0, (max(a1, 1) - 1)]
    v0:bool = index (0 < a1)
    for a2 in 0..L: # scan
      in1 = load x[a0, a1, a2]
      acc0 <- add(acc0, in1)
      v1 = add(in0, acc0)
      v2 = select(v0, v1, acc0)
      y[a0, a1, a2] = v2
)"},
    {"running_extreme", R"(=== loop: running_extreme ===
symbols M, N
input x: f32[M, N]
output y: f32[M, N]
output place: i32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # scan
    in0 = load x[a0, a1]
    acc0 <- maximum(acc0, in0)
    y[a0, a1] = acc0
    v0:bool = equal(in0, acc0)
    v1:i32 = index a1
    v2:i32 = select(v0, v1, 0)
    acc1:i32 <- maximum(acc1, v2)
    place[a0, a1] = acc1
)"},
    {"scan_of_shares", R"(=== loop: scan_of_shares ===
symbols M, N
input x: f32[M, N] in (0.1, 1)
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # reduce
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
  for a2 in 0..N: # scan
    in1 = load x[a0, a2]
    v0 = divide(in1, acc0)
    acc1 <- add(acc1, v0)
    y[a0, a2] = acc1
)"},
    {"scan_of_sums", R"(=== loop: scan_of_sums ===
symbols M, N, K
input x: f32[M, N, K]
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # scan
    for a2 in 0..K: # reduce
      in0 = load x[a0, a1, a2]
      acc0 <- add(acc0, in0)
    acc1 <- add(acc1, acc0)
    y[a0, a1] = acc1
)"},
    {"packed_words", R"(=== loop: packed_words ===
symbols M, N
input q: i32[8, N] in randint(-2147483648, 2147483647)
input z: i32[4, N] in randint(-2147483648, 2147483647)
input s: f32[4, N]
input x: f32[M, 64]
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    v0:i32 = index ((a1 % 8) * 4)
    for a2 in 0..64: # reduce
      in0:i32 = load q[(a2 / 8), a1]
      in1:i32 = load z[(a2 / 16), (a1 / 8)]
      in2 = load s[(a2 / 16), a1]
      in3 = load x[a0, a2]
      v1:i32 = index ((a2 % 8) * 4)
      v2:i32 = shift_right(in0, v1)
      v3:i32 = bit_and(v2, 15)
      v4:i32 = shift_right(in1, v0)
      v5:i32 = bit_and(v4, 15)
      v6:i32 = subtract(v3, v5)
      v7 = copy(v6)
      v8 = multiply(v7, in2)
      v9 = multiply(in3, v8)
      acc0 <- add(acc0, v9)
    y[a0, a1] = acc0
)"},
    {"packed_columns", R"(=== loop: packed_columns ===
symbols M, N
input q: i32[64, N] in randint(-2147483648, 2147483647)
input s: f32[4, N]
input x: f32[M, 64]
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    v0:i32 = index ((a1 % 8) * 4)
    for a2 in 0..64: # reduce
      in0:i32 = load q[a2, (a1 / 8)]
      in1 = load s[(a2 / 16), a1]
      in2 = load x[a0, a2]
      v1:i32 = shift_right(in0, v0)
      v2:i32 = bit_and(v1, 15)
      v3:i32 = subtract(v2, 8)
      v4 = copy(v3)
      v5 = multiply(v4, in1)
      v6 = multiply(in2, v5)
      acc0 <- add(acc0, v6)
    y[a0, a1] = acc0
)"},
    {"packed_bytes", R"(=== loop: packed_bytes ===
symbols M, N
input q: u8[32, N] in randint(0, 256)
input r: i8[N] in randint(-128, 128)
input s: f32[4, N]
input x: f32[M, 64]
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..64: # reduce
      in0:i32 = load q[(a2 / 2), a1]
      in1 = load s[(a2 / 16), a1]
      in2 = load x[a0, a2]
      v0:i32 = bit_and(in0, 15)
      v1:i32 = shift_right(in0, 4)
      v2:bool = index ((a2 % 2) < 1)
      v3:i32 = select(v2, v0, v1)
      v4 = copy(v3)
      v5 = subtract(v4, 8)
      v6 = multiply(v5, in1)
      v7 = multiply(in2, v6)
      acc0 <- add(acc0, v7)
    in3:i32 = load r[a1]
    v8 = copy(in3)
    v9 = multiply(acc0, v8)
    y[a0, a1] = v9
)"},
    {"narrow_results", R"(=== loop: narrow_results ===
symbols M, N
input x: f32[M, N]
input r: i16[M, N] in randint(-32768, 32768)
output q: i8[M, N]
output u: u8[M, N]
output w: i16[M]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    in0 = load x[a0, a1]
    in1:i32 = load r[a0, a1]
    v0 = multiply(in0, 40)
    v1:i32 = copy(v0)
    q[a0, a1] = v1
    v2:i32 = add(v1, in1)
    u[a0, a1] = v2
    acc0:i32 <- add(acc0, in1)
  w[a0] = acc0
)"},
    {"row_sum", R"(=== loop: row_sum ===
symbols M, K
input x: f32[M, K]
output y: f32[M]
for a0 in 0..M: # free
  for a1 in 0..K: # reduce
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
  y[a0] = acc0
)"},
    {"row_max", R"(=== loop: row_max ===
symbols M, K
input x: f32[M, K]
output y: f32[M]
for a0 in 0..M: # free
  for a1 in 0..K: # reduce
    in0 = load x[a0, a1]
    acc0 <- maximum(acc0, in0)
  y[a0] = acc0
)"},
    {"column_sum", R"(=== loop: column_sum ===
symbols M, N
input x: f32[M, N]
output y: f32[N]
for a0 in 0..N: # free
  for a1 in 0..M: # reduce
    in0 = load x[a1, a0]
    acc0 <- add(acc0, in0)
  y[a0] = acc0
)"},
    {"batched_column_mean", R"(=== loop: batched_column_mean ===
symbols B, M, N
input x: f32[B, M, N]
output y: f32[B, N]
for a0 in 0..B: # free
  for a1 in 0..N: # free
    for a2 in 0..M: # reduce
      in0 = load x[a0, a2, a1]
      acc0 <- add(acc0, in0)
    v0 = divide(acc0, M)
    y[a0, a1] = v0
)"},
    {"total", R"(=== loop: total ===
symbols M, N
input x: f32[M, N]
output y: f32[1]
for a0 in 0..M: # reduce
  for a1 in 0..N: # reduce
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
y[0] = acc0
)"},
    {"row_sum_of_images", R"(=== loop: row_sum_of_images ===
symbols B, M, N
input x: f32[B, M, N]
output y: f32[B]
for a0 in 0..B: # free
  for a1 in 0..M: # reduce
    for a2 in 0..N: # reduce
      in0 = load x[a0, a1, a2]
      acc0 <- add(acc0, in0)
  y[a0] = acc0
)"},
    {"batched_matmul", R"(=== loop: batched_matmul ===
symbols B, M, N, K
input a: f32[B, M, K]
input b: f32[B, K, N]
output c: f32[B, M, N]
for a0 in 0..B: # free
  for a1 in 0..M: # free
    for a2 in 0..N: # free
      for a3 in 0..K: # reduce
        in0 = load a[a0, a1, a3]
        in1 = load b[a0, a3, a2]
        v0 = multiply(in0, in1)
        acc0 <- add(acc0, v0)
      c[a0, a1, a2] = acc0
)"},
    {"matmul_silu", R"(=== loop: matmul_silu ===
symbols M, N, K
input a: f32[M, K]
input b: f32[K, N]
output c: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..K: # reduce
      in0 = load b[a2, a1]
      in1 = load a[a0, a2]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    v1 = sigmoid(acc0)
    v2 = multiply(acc0, v1)
    c[a0, a1] = v2
)"},
    {"matmul_transposed_b", R"(=== loop: matmul_transposed_b ===
symbols M, N, K
input a: f32[M, K]
input b: f32[K, N] strides=(1, K)
output c: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..K: # reduce
      in0 = load a[a0, a2]
      in1 = load b[a2, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[a0, a1] = acc0
)"},
    {"linear_bias", R"(=== loop: linear_bias ===
symbols M, N, K
input x: f32[M, K]
input weight: f32[N, K]
input bias: f32[N]
output y: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..K: # reduce
      in0 = load x[a0, a2]
      in1 = load weight[a1, a2]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    in2 = load bias[a1]
    v1 = add(acc0, in2)
    y[a0, a1] = v1
)"},
    // The next two kernels are like the projections around attention: columns, or steps of the sum, belong to six heads
    // of 16.
    {"split_heads", R"(=== loop: split_heads ===
symbols M, K
input a: f32[M, K]
input b: f32[K, 96]
output c: f32[6, M, 16]
for a0 in 0..M: # free
  for a1 in 0..96: # free
    for a2 in 0..K: # reduce
      in0 = load a[a0, a2]
      in1 = load b[a2, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[(a1 / 16), a0, (a1 % 16)] = acc0
)"},
    {"merge_heads", R"(=== loop: merge_heads ===
symbols M, N
input a: f32[6, M, 16]
input b: f32[96, N]
output c: f32[M, N]
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..96: # reduce
      in0 = load a[(a2 / 16), a0, (a2 % 16)]
      in1 = load b[a2, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[a0, a1] = acc0
)"},
    {"padded_rows_matmul", R"(=== loop: padded_rows_matmul ===
symbols M, N, K
input a: f32[M, K] strides=(100, 1)
input b: f32[K, N] strides=(97, 1)
output c: f32[M, N] strides=(99, 1)
for a0 in 0..M: # free
  for a1 in 0..N: # free
    for a2 in 0..K: # reduce
      in0 = load a[a0, a2]
      in1 = load b[a2, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[a0, a1] = acc0
)"},
    {"square", R"(=== loop: square ===
symbols M, K
input a: f32[M, K]
output c: f32[M, M]
for a0 in 0..M: # free
  for a1 in 0..M: # free
    for a2 in 0..K: # reduce
      in0 = load a[a0, a2]
      in1 = load a[a1, a2]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[a0, a1] = acc0
)"},
    {"layernorm", R"(=== loop: layernorm ===
symbols M, D
input x: f32[M, D]
input weight: f32[D]
input bias: f32[D]
output y: f32[M, D]
for a0 in 0..M: # free
  for a1 in 0..D: # reduce
    in0 = load x[a0, a1]
    v0 = multiply(in0, in0)
    acc0 <- add(acc0, in0)
    acc1 <- add(acc1, v0)
  v1 = divide(acc0, D)
  v2 = divide(acc1, D)
  v3 = multiply(v1, v1)
  v4 = subtract(v2, v3)
  v5 = add(v4, 1e-05)
  v6 = rsqrt(v5)
  for a2 in 0..D: # free
    in1 = load x[a0, a2]
    in2 = load weight[a2]
    in3 = load bias[a2]
    v7 = subtract(in1, v1)
    v8 = multiply(v7, v6)
    v9 = multiply(v8, in2)
    v10 = add(v9, in3)
    y[a0, a2] = v10
)"},
    {"products",
     R"(=== loop: products ===
symbols M, K
input x: f32[M, K]
input z: f32[K]
output y: f32[M]
for a0 in 0..M: # free
  for a1 in 0..K: # reduce
    in0 = load x[a0, a1]
    in1 = load z[a1]
    v0 = multiply(in0, in1)
    acc0 <- add(acc0, v0)
    acc1 <- minimum(acc1, v0)
  v1 = subtract(acc0, acc1)
  y[a0] = v1
)"},
    {"transposed_scale", R"(=== loop: transposed_scale ===
symbols M, N
input x: f32[M, N]
input s: f32[M]
output y: f32[M, N] strides=(1, M)
for a0 in 0..M: # free
  for a1 in 0..N: # free
    in0 = load x[a0, a1]
    in1 = load s[a0]
    v0 = multiply(in0, in1)
    y[a0, a1] = v0
)"},
    {"scalar_before", R"(=== loop: scalar_before ===
symbols M, D
input x: f32[M, D]
output y: f32[M, D]
v0 = reciprocal(D)
for a0 in 0..M: # free
  for a1 in 0..D: # reduce
    in0 = load x[a0, a1]
    acc0 <- add(acc0, in0)
  v1 = multiply(acc0, v0)
  for a2 in 0..D: # free
    in1 = load x[a0, a2]
    v2 = subtract(in1, v1)
    y[a0, a2] = v2
)"},
    {"sum_and_difference", R"(=== loop: sum_and_difference ===
symbols N
input x: f32[N]
input z: f32[N]
output p: f32[N]
output q: f32[N]
for a0 in 0..N: # free
  in0 = load x[a0]
  in1 = load z[a0]
  v0 = add(in0, in1)
  v1 = subtract(in0, in1)
  p[a0] = v0
  q[a0] = v1
)"},
}};

}  // namespace

std::span<const InlineKernel> inline_kernels() { return all; }

}  // namespace deplo::rules
