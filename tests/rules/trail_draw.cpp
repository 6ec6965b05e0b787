#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/rng.h"
#include "rules/trail_case.h"

namespace deplo::rules {
namespace {

// Mostly what no tile divides; 32, 64, 96 and 128 so that whole tiles, vectors and TMA boxes are met as well.
constexpr std::array<std::int64_t, 15> extents = {1, 2, 7, 13, 16, 31, 32, 33, 61, 64, 96, 100, 128, 257, 509};

// What the rules are for; the other kernels get one case of four.
constexpr std::array<const char*, 29> typical = {
    "matmul",          "matmul_scale",
    "matmul_add",      "matmul_relu",
    "matmul_silu",     "matmul_scale_add",
    "matmul_silu_mul", "linear",
    "linear_bias",     "matmul_transposed_b",
    "batched_matmul",  "gate_up",
    "rmsnorm",         "layernorm",
    "softmax",         "gelu",
    "silu_mul",        "gqa_scores",
    "causal_softmax",  "masked_softmax",
    "gqa_values",      "row_sum",
    "row_max",         "column_sum",
    "column_max",      "batched_column_mean",
    "total",           "norm_matmul",
    "square",
};

std::string draw_kernel(Rng& rng) {
  if (rng.below(4) != 0) return typical.at(rng.below(typical.size()));
  return kernels()[rng.below(kernels().size())].name;
}

// Interpreting takes some 30 ns an operation: of 20 cases 15 take a millisecond or two, one some fifty.
double draw_most_flops(Rng& rng) {
  const std::uint64_t draw = rng.below(20);
  return draw == 0 ? 1.2e6 : draw < 5 ? 200e3 : 30e3;
}

// The rows of this one lie 97 to 100 elements apart.
std::int64_t most_extent(const std::string& kernel) { return kernel == "padded_rows_matmul" ? 96 : extents.back(); }

}  // namespace

std::string describe(const TrailCase& c) {
  std::string text = c.kernel;
  for (const auto& [symbol, value] : c.symbols) text += fmt::format(" {}={}", symbol, value);
  return fmt::format("{} on {}{}{}, {}", text, c.target, c.tight == 0 ? "" : fmt::format(" (tight {})", c.tight),
                     c.fault == nullptr ? "" : " with a planted fault",
                     c.seed != 0 ? fmt::format("seed {}", c.seed) : print(c.wanted));
}

TrailCase random_case(std::string_view target, std::uint64_t seed) {
  Rng rng(seed * 2654435761U + 1);
  TrailCase c;
  c.target = target;
  c.seed = seed;
  const std::uint64_t limits = rng.below(6);
  c.tight = limits < 4 ? 0 : static_cast<int>(limits) - 3;
  c.lazy = std::array<std::uint64_t, 3>{0, 40, 80}.at(rng.below(3));
  c.kernel = draw_kernel(rng);
  const double most_flops = draw_most_flops(rng);
  const std::int64_t most = most_extent(c.kernel);
  double flops = 0;
  do {
    for (const std::string& symbol : kernel(c.kernel).symbols) do
        c.symbols[symbol] = extents.at(rng.below(extents.size()));
      while (c.symbols[symbol] > most);
    flops = ir::work(ir::parse(kernel(c.kernel).text, c.symbols, c.kernel)).flops;
  } while (flops > most_flops);
  return c;
}

}  // namespace deplo::rules
