// Tests the online softmax in chunks of keys: random schedules of attention are right, and faults in them are detected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/rng.h"
#include "ir/walk.h"
#include "rules/drawn_schedules.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::online_softmax_test {
namespace {

struct Case {
  const char *name, *target;
  std::string by = "threads";
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name << " " << c.target << " " << c.by; }

/// Returns whether the kernel has as many queries as keys, and a mask by positions.
bool is_self(const Case& c) {
  return c.name == std::string_view("attention_causal") || c.name == std::string_view("attention_band");
}
/// Returns whether the kernel has a mask by positions, and parts of 64 keys.
bool is_of_parts(const Case& c) { return c.name == std::string_view("attention_parts"); }

ir::Symbols drawn_sizes(const Case& c, std::int64_t keys, Rng& rng) {
  const bool products = c.by != "threads";  // whether matrix instructions multiply
  constexpr std::array<std::int64_t, 4> rows = {9, 11, 16, 32}, values = {4, 8, 16, 24}, depths = {16, 32, 16, 48},
                                        wide = {8, 16, 24, 32}, panels = {16, 32, 48, 64}, warp_rows = {16, 17, 20, 32};
  ir::Symbols symbols;
  for (const std::string& symbol : kernel(c.name).symbols)
    symbols[symbol] = symbol == "H" ? 1
                      : symbol == "Q"
                          ? products ? (c.by == "warps" ? 1 : 4) * warp_rows.at(rng.below(4)) : rows.at(rng.below(4))
                      : !products     ? values.at(rng.below(4))
                      : symbol == "D" ? depths.at(rng.below(4))
                                      : (c.by == "warps" ? wide : panels).at(rng.below(4));
  if (!is_of_parts(c)) symbols[is_self(c) ? "Q" : "K"] = keys;
  return symbols;
}

/// Draws a schedule with at least two chunks of 8 to 32 keys. Some chunks are shifted inwards.
Drawn drawn_attention(const Case& c, const Target& target, std::uint64_t seed) {
  Rng rng(seed);
  constexpr std::array<std::int64_t, 4> few = {24, 32, 37, 64}, more = {48, 64, 72, 101};
  const bool rows_are_keys = is_self(c) && c.by == "warpgroups";
  const std::int64_t extent = is_of_parts(c)  ? 64
                              : rows_are_keys ? static_cast<std::int64_t>(64 + 8 * rng.below(2))
                                              : (c.by == "threads" ? few : more).at(rng.below(4));
  ir::Program loop = ir::parse(kernel(c.name).text, drawn_sizes(c, extent, rng), c.name);
  if (c.by != "threads")
    for (ir::Buffer& buffer : loop.buffers)
      if (buffer.dtype == ir::DType::f32) buffer.dtype = ir::DType::bf16;
  Lowering lowering(loop, target);
  bool chunks = false;
  while (const auto& fork = lowering.fork()) {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < fork->options.size(); ++i) {
      const Value& option = fork->options[i];
      if (fork->knob == "online_softmax.keys" && std::get<std::int64_t>(option) > 0 &&
          2 * std::get<std::int64_t>(option) <= extent)
        wanted.push_back(i);
      if (fork->knob == "online_softmax.by" && std::get<std::string>(option) == c.by) wanted.push_back(i);
    }
    EXPECT_TRUE(fork->knob != "online_softmax.by" || !wanted.empty()) << ir::print(loop);
    chunks |= fork->knob == "online_softmax.keys" && !wanted.empty();
    const std::size_t choice = wanted.empty() ? rng.below(fork->options.size()) : wanted[rng.below(wanted.size())];
    lowering.choose(choice);
  }
  return {std::move(loop), chunks ? std::optional(std::move(lowering)) : std::nullopt};
}

class OnlineSoftmax : public ::testing::TestWithParam<Case> {
 protected:
  bool by_threads() const { return GetParam().by == "threads"; }
  const Target target_ = load_target(GetParam().target);
  Drawn draw(std::uint64_t seed) const { return drawn_attention(GetParam(), target_, seed); }
};

TEST_P(OnlineSoftmax, OfRandomSchedulesIsRight) {
  std::map<std::string, std::set<std::string>> choices;
  for_each_schedule(
      by_threads() ? 10 : 3, [&](std::uint64_t seed) { return draw(seed); },
      [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
        ASSERT_EQ(finding(loop, lowering.program(), seed), "") << ir::print(lowering.program());
        const ir::Program kernel = materialize(lowering.program(), target_);
        ASSERT_EQ(finding(loop, kernel, seed), "") << ir::print(kernel);
        ASSERT_EQ(ir::parse(ir::print(lowering.program())), lowering.program());
        for (const Choice& choice : lowering.trail()) choices[choice.knob].insert(print(choice.value));
      });
  EXPECT_GE(choices["online_softmax.keys"].size(), 2U);
  EXPECT_GE(choices["online_softmax.fm"].size(), by_threads() ? 2U : 1U);
  EXPECT_TRUE(target_.cpu || !by_threads() || choices["online_softmax.columns"].size() >= 2);
  EXPECT_TRUE(by_threads() || choices["online_softmax.by"].contains(GetParam().by));
}

/// Plants a fault: the sums so far are not scaled when the maximum grows.
ir::Program without_scales(ir::Program tile) {
  edit_bodies(tile.body, [](ir::Body& body) {
    std::erase_if(body, [](const ir::Stmt& stmt) { return stmt.as<ir::Scale>() != nullptr; });
  });
  return tile;
}

/// Plants a fault: exponentials are relative to the maximum before the chunk.
ir::Program with_stale_maximum(const ir::Program& tile) {
  return edited<ir::Assign>(tile, [](ir::Assign& s) {
    const bool both = s.op == ir::Op::maximum && std::holds_alternative<std::string>(s.args[0]) &&
                      std::holds_alternative<std::string>(s.args[1]);
    if (both) s.args[1] = s.args[0];
  });
}

/// Plants a fault: the mask hides one key too many.
ir::Program with_short_mask(const ir::Program& tile) {
  return edited<ir::Index>(tile, [](ir::Index& s) {
    if (s.type.dtype == ir::DType::boolean && s.value.kind() == ir::Expr::Kind::binary &&
        s.value.op() == ir::ExprOp::lt)
      s.value = ir::less(s.value.lhs() + 1, s.value.rhs());
  });
}

/// Plants a fault: the last chunk that some row sees is left out.
ir::Program with_short_visit(ir::Program tile) {
  ir::for_each(tile.body, [](ir::Stmt& stmt) {
    if (auto* loop = stmt.as<ir::Loop>(); loop != nullptr && loop->end) loop->end = *loop->end - 1;
  });
  return tile;
}

TEST_P(OnlineSoftmax, FaultsShowInEverySchedule) {
  int visits = 0, shared = 0, masks = 0;
  for_each_schedule(
      by_threads() ? 6 : 3, [&](std::uint64_t seed) { return draw(seed); },
      [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
        const ir::Program& tile = lowering.program();
        EXPECT_NE(finding(loop, without_scales(tile), seed), "") << "no scaling\n" << ir::print(tile);
        EXPECT_NE(finding(loop, with_stale_maximum(tile), seed), "") << "a stale maximum\n" << ir::print(tile);
        if (const ir::Program wrong = with_short_mask(tile); wrong != tile) {
          ++masks;
          EXPECT_NE(finding(loop, wrong, seed), "") << "a mask one key short\n" << ir::print(wrong);
        }
        if (const ir::Program wrong = with_short_visit(tile); wrong != tile) {
          ++visits;
          EXPECT_NE(finding(loop, wrong, seed), "") << "a chunk too few\n" << ir::print(wrong);
        }
        ir::Program racy = materialize(tile, target_);
        const bool several = ir::count_of(*racy.body.back().as<ir::Tile>(), ir::Bind::thread) > 1;
        edit_bodies(racy.body, [](ir::Body& body) {
          std::erase_if(body, [](const ir::Stmt& stmt) { return stmt.as<ir::Sync>() != nullptr; });
        });
        if (!several || racy == materialize(tile, target_)) return;
        ++shared;
        EXPECT_THAT(finding(loop, racy, seed), ::testing::HasSubstr("race")) << ir::print(racy);
      });
  const bool by_positions = is_self(GetParam()) || is_of_parts(GetParam());
  EXPECT_EQ(visits > 0, by_positions);
  EXPECT_TRUE(!by_positions || masks > 2) << masks;
  EXPECT_TRUE(target_.cpu || shared > 1) << shared;
}

// If a mask of torch.finfo(dtype).min hides a whole row, its weights are equal, because no score is infinite.
TEST(OnlineSoftmaxOf, ScoresThatAreAllTheLeastNumber) {
  for (const Case& c : {Case{"attention_masked", "sm_80", "warps"}, Case{"attention_masked", "sm_120", "threads"},
                        Case{"attention_masked", "opencl-cpu", "threads"}}) {
    const Target target = load_target(c.target);
    for_each_schedule(
        3, [&](std::uint64_t seed) { return drawn_attention(c, target, seed); },
        [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
          ir::Memory memory = random_memory(loop, seed);
          std::ranges::fill(memory.at("bias"), -0x1.fep+127);  // the least bf16
          std::ranges::fill(memory.at("mask"), 1);
          const ir::Program kernel = materialize(lowering.program(), target);
          ASSERT_EQ(difference(loop, result(loop, memory), result(kernel, memory)), "") << ir::print(kernel);
        });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, OnlineSoftmax,
    ::testing::Values(Case{"attention", "opencl-cpu"}, Case{"attention_causal", "opencl-cpu"},
                      Case{"attention_masked", "opencl-cpu"}, Case{"attention_decode", "opencl-cpu"},
                      Case{"attention", "sm_80"}, Case{"attention_causal", "sm_90"},
                      Case{"attention_band", "opencl-cpu"}, Case{"attention_band", "sm_80", "warps"},
                      Case{"attention_causal", "sm_80", "warps"}, Case{"attention_masked", "sm_120", "warps"},
                      Case{"attention_parts", "opencl-cpu"}, Case{"attention_parts", "sm_90"},
                      Case{"attention_parts", "sm_80", "warps"}, Case{"attention", "sm_90", "warpgroups"},
                      Case{"attention_causal", "sm_90", "warpgroups"}));

}  // namespace
}  // namespace deplo::rules::online_softmax_test
