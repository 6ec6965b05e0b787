// Attention in one kernel on PoCL, compared with the reference in double. The calls are drawn from a grid of heads,
// groups, lengths, head sizes, masks and types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/run_program.h"
#include "core/rng.h"

namespace deplo::testing {
namespace {

enum class Mask : std::uint8_t { none, causal, hides, adds };

/// `group` heads of q share a head of k and v.
struct Attention {
  int heads, group, queries, keys, width;
  Mask mask;
  const char* dtype;

  double products() const { return 2.0 * heads * queries * keys * width; }
  /// Returns the code of two batches. The masks `hides` and `adds` hide all keys from the third query.
  std::string code() const {
    std::string text = fmt::format("q = torch.randn(2, {}, {}, {})\n", heads, queries, width);
    for (const char* name : {"k", "v"})
      text += fmt::format("{} = torch.randn(2, {}, {}, {})\n", name, heads / group, keys, width);
    text +=
        fmt::format("m = torch.randn({0}, {1}); seen = (m > -1) & (torch.arange({0}) != 2)[:, None]\n", queries, keys);
    return text + fmt::format("F.scaled_dot_product_attention(q, k, v{}, enable_gqa=True)", mask_argument());
  }

 private:
  std::string mask_argument() const {
    switch (mask) {
      case Mask::none:
        return "";
      case Mask::causal:
        return ", is_causal=True";
      case Mask::hides:
        return ", attn_mask=seen";
      case Mask::adds:
        break;
    }
    return ", attn_mask=torch.where(seen, m, float('-inf'))";
  }
};

template <std::size_t n, typename T>
T one_of(Rng& rng, const std::array<T, n>& choices) {
  return choices[rng.below(n)];
}

/// Draws a call with at most `max_products` products of two numbers, and at most `longest` queries and keys.
Attention draw(Rng& rng, double max_products, int longest) {
  using Heads = std::pair<int, int>;
  constexpr std::array heads_and_groups = {Heads{1, 1}, Heads{3, 1},  Heads{8, 1},  Heads{8, 4},
                                           Heads{8, 8}, Heads{32, 1}, Heads{32, 4}, Heads{32, 8}};
  constexpr std::array lengths = {1, 7, 33, 129, 512, 4096};
  constexpr std::array widths = {16, 24, 64, 80, 128, 256};
  constexpr std::array masks = {Mask::none, Mask::causal, Mask::hides, Mask::adds};
  constexpr std::array dtypes = {"f32", "f16", "bf16"};
  while (true) {
    const auto [heads, group] = one_of(rng, heads_and_groups);
    const Attention drawn = {heads,
                             group,
                             one_of(rng, lengths),
                             one_of(rng, lengths),
                             one_of(rng, widths),
                             one_of(rng, masks),
                             one_of(rng, dtypes)};
    if (drawn.products() <= max_products && std::max(drawn.queries, drawn.keys) <= longest) return drawn;
  }
}

/// Checks the call as one kernel, or with its keys split into this many parts.
void expect_right(const Attention& attention, int parts = 1) {
  const std::string code = attention.code();
  const Ran ran = run_program({"deplo", "run", "--json", "--attention", "fused", "--key-parts", std::to_string(parts),
                               "--dtype", attention.dtype, "-c", code});
  ASSERT_EQ(ran.code, 0) << attention.dtype << "\n" << code << "\n" << ran.err << ran.out;
  const auto report = nlohmann::json::parse(ran.out);
  EXPECT_TRUE(report["right"]) << attention.dtype << "\n" << code << "\n" << ran.out;
  EXPECT_EQ(report["kernels"].size(), parts == 1 ? 1U : 2U) << code;
}

TEST(AttentionGrid, Calls) {
  Rng rng(1);
  for (int i = 0; i < 8; ++i) expect_right(draw(rng, 1 << 24, 512));
}

// With an odd number of keys, rows of the f16 mask begin at odd elements.
TEST(AttentionGrid, OddRowsOfF16) { expect_right({32, 1, 129, 33, 24, Mask::adds, "f16"}); }

TEST(AttentionGrid, LongSequences) {
  expect_right({1, 1, 4096, 4096, 16, Mask::causal, "f32"});
  expect_right({32, 8, 1, 4096, 64, Mask::none, "bf16"});
  expect_right({1, 1, 1, 4096, 128, Mask::adds, "f16"});
  expect_right({3, 1, 33, 4096, 80, Mask::adds, "f32"});
  expect_right({8, 4, 4096, 7, 24, Mask::hides, "f16"});
  expect_right({1, 1, 129, 4096, 256, Mask::causal, "f16"});
}

TEST(AttentionGrid, KeysInParts) {
  expect_right({8, 4, 1, 513, 64, Mask::none, "f32"}, 2);
  expect_right({32, 8, 1, 4096, 128, Mask::none, "bf16"}, 7);
  expect_right({3, 1, 7, 129, 24, Mask::causal, "f16"}, 3);  // all parts but the first are masked entirely
  expect_right({1, 1, 33, 129, 80, Mask::hides, "f32"}, 2);
  expect_right({8, 1, 7, 33, 16, Mask::adds, "bf16"}, 7);
}

// Takes ten minutes: --gtest_also_run_disabled_tests --gtest_filter=AttentionGrid.DISABLED_ManyCalls
TEST(AttentionGrid, DISABLED_ManyCalls) {
  Rng rng(2);
  for (int i = 0; i < 250; ++i) {
    const Attention attention = draw(rng, std::ldexp(1, 29), 4096);
    fmt::print("{}: {} heads in groups of {}, {} x {} x {}, mask {}, {}\n", i, attention.heads, attention.group,
               attention.queries, attention.keys, attention.width, static_cast<int>(attention.mask), attention.dtype);
    std::fflush(stdout);
    expect_right(attention);
  }
}

}  // namespace
}  // namespace deplo::testing
