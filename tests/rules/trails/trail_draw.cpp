#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/error.h"
#include "core/rng.h"
#include "rules/options.h"
#include "rules/trails/tile_case.h"
#include "rules/trails/trail_case.h"

namespace deplo::rules {
namespace {

// Mostly extents that no tile divides. 32, 64, 96 and 128 are included so that whole tiles and vectors occur as well.
constexpr std::array<std::int64_t, 15> awkward = {1, 2, 7, 13, 16, 31, 32, 33, 61, 64, 96, 100, 128, 257, 509};
// Extents whose rows are multiples of 16 bytes, which TMA and swizzles require, with enough chunks for deep pipelines.
constexpr std::array<std::int64_t, 8> whole = {8, 16, 32, 32, 64, 64, 96, 128};

// clang-format off
constexpr std::array products = {
    "matmul", "matmul_scale", "matmul_add", "matmul_relu", "matmul_silu", "matmul_scale_add", "matmul_silu_mul", "linear",
    "linear_bias", "matmul_transposed_b", "batched_matmul", "gqa_scores", "gqa_values", "gate_up", "norm_matmul", "square", "split_heads",
    "merge_heads", "attention", "attention_causal", "attention_masked", "convolution", "conv2d_lines",
    "conv2d_stem", "packed_words", "packed_columns", "packed_bytes"};
constexpr std::array others = {
    "rmsnorm", "layernorm", "softmax", "gelu", "silu_mul", "causal_softmax", "masked_softmax", "row_sum", "row_max",
    "column_sum", "column_max", "batched_column_mean", "total", "attention", "attention_causal",
    "attention_masked", "conv2d", "conv2d_rows", "conv2d_grouped", "conv2d_depthwise", "conv2d_dilated",
    "conv2d_transposed", "scan_of_runs", "argsort_ranks", "scatter_sums", "lstm_cell", "row_scan", "column_scan",
    "scan_of_parts", "running_extreme", "scan_of_shares", "scan_of_sums"};
// clang-format on

// Returns a kernel that the rules are made for, or in one of four cases any kernel. --kernels restricts the names.
std::string draw_kernel(Rng& rng) {
  if (const std::string& prefix = test_options().kernels; !prefix.empty()) {
    std::vector<std::string> names;
    for (const Kernel& each : kernels())
      if (each.name.starts_with(prefix)) names.push_back(each.name);
    if (names.empty()) throw Error("--kernels " + prefix + ": expected the beginning of a kernel's name");
    return names[rng.below(names.size())];
  }
  if (rng.below(4) == 0) return kernels()[rng.below(kernels().size())].name;
  const std::size_t number = rng.below(products.size() + others.size());
  return number < products.size() ? products.at(number) : others.at(number - products.size());
}

// Interpreting takes about 30 ns per operation. Of 20 awkward cases, 15 take one or two milliseconds, and one takes
// about fifty.
double draw_most_operations(Rng& rng) {
  const std::uint64_t draw = rng.below(20);
  return draw == 0 ? 1.2e6 : draw < 5 ? 200e3 : 30e3;
}

std::int64_t draw_extent(const std::string& kernel, std::span<const std::int64_t> from, Rng& rng) {
  const std::int64_t extent = from[rng.below(from.size())];
  return kernel == "padded_rows_matmul" ? std::min<std::int64_t>(extent, 96)
                                        : extent;  // its rows are 97 elements apart
}

// Returns the work of the case. The bytes count as well, because kernels that only move elements have no arithmetic.
double operations(const TrailCase& c) {
  const ir::Program loop = ir::parse(kernel(c.kernel).text, c.symbols, c.kernel);
  bool scores = false;  // the nest computes scores once per value, but Work counts them once for all values
  ir::for_each(loop.body, [&](const ir::Stmt& stmt) { scores |= stmt.as<ir::SoftmaxSum>() != nullptr; });
  const ir::Work work = ir::work(loop);
  return std::max({work.flops, work.bytes / 4, scores ? lane_steps(loop) : 0});
}

void draw_extents(TrailCase& c, std::span<const std::int64_t> from, double most, Rng& rng) {
  do {
    for (const std::string& symbol : kernel(c.kernel).symbols) c.symbols[symbol] = draw_extent(c.kernel, from, rng);
  } while (!c.symbols.empty() && operations(c) > most);
}

void draw_limits(TrailCase& c, Rng& rng) {
  const std::uint64_t limits = rng.below(6);
  c.tight = limits < 4 ? 0 : static_cast<int>(limits) - 3;
  c.lazy = std::array<std::uint64_t, 3>{0, 40, 80}.at(rng.below(3));
}

const TileKind& draw_tile_kind(const std::vector<TileKind>& from, Rng& rng) {
  std::vector<const TileKind*> kinds;
  for (const TileKind& kind : from)
    if (kind.name.starts_with(test_options().kernels)) kinds.insert(kinds.end(), kind.weight, &kind);
  if (kinds.empty()) throw Error("--kernels " + test_options().kernels + ": expected the beginning of a kind's name");
  return *kinds[rng.below(kinds.size())];
}

TrailCase draw_tile_case(const std::vector<TileKind>& kinds, std::string_view target, std::uint64_t seed) {
  Rng rng(seed * 2654435761U + 2);
  TrailCase c;
  c.target = target;
  c.seed = seed;
  draw_limits(c, rng);
  const TileKind& kind = draw_tile_kind(kinds, rng);
  c.kernel = kind.name;
  for (const auto& [symbol, most] : kind.symbols) do
      c.symbols[symbol] = awkward[rng.below(awkward.size())];
    while (c.symbols[symbol] > most);
  c.part = rng.below(4);
  if (!kind.drawn) return c;
  c.draw = 1 + rng.below(UINT32_MAX);
  c.tf32 = rng.below(2) == 0;
  return c;
}

}  // namespace

std::string describe(const TrailCase& c) {
  std::string text = c.kernel;
  for (const auto& [symbol, value] : c.symbols) text += fmt::format(" {}={}", symbol, value);
  if (c.types > 0)
    for (const ir::Buffer& buffer : loop_program(c).buffers)
      text += fmt::format(" {}:{}", buffer.name, name(buffer.dtype));
  if (c.tf32) text += " with tf32";
  if (c.draw != 0) text += fmt::format(", program {}", c.draw);
  if (c.part != 0) text += fmt::format(", kernel {}", c.part);
  return fmt::format("{} on {}{}{}, {}", text, c.target, c.tight == 0 ? "" : fmt::format(" (tight {})", c.tight),
                     c.fault == nullptr ? "" : " with a planted fault",
                     c.seed != 0 ? fmt::format("seed {}", c.seed) : print(c.wanted));
}

TrailCase random_case(std::string_view target, std::uint64_t seed) {
  Rng rng(seed * 2654435761U + 1);
  TrailCase c;
  c.target = target;
  c.seed = seed;
  draw_limits(c, rng);
  if (rng.below(3) == 0) {
    c.kernel = test_options().kernels.empty() ? products.at(rng.below(products.size())) : draw_kernel(rng);
    draw_extents(c, whole, 600e3, rng);
  } else {
    c.kernel = draw_kernel(rng);
    draw_extents(c, awkward, draw_most_operations(rng), rng);
  }
  constexpr std::uint64_t max_types = 3 * 3 * 3 * 3 * 3;  // one base-3 digit per buffer
  const std::uint64_t types = rng.below(4);               // all f32, all f16, all bf16, or random types
  c.types = types == 3 ? rng.below(max_types) : types * (max_types - 1) / 2;
  c.tf32 = rng.below(2) == 0;
  return c;
}

TrailCase random_tile_case(std::string_view target, std::uint64_t seed) {
  return draw_tile_case(tile_kinds(), target, seed);
}

TrailCase random_shared_tile_case(std::string_view target, std::uint64_t seed) {
  return draw_tile_case(shared_tile_kinds(), target, seed);
}

}  // namespace deplo::rules
