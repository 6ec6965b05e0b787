// Tests that every schedule splits long sums into partial sums: no accumulator takes many terms in sequence, and the
// values stay the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/longest_chain.h"
#include "ir/walk.h"
#include "rules/drawn_schedules.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

/// Counts the terms that are added to each accumulator after its Init. longest() returns the largest count in the
/// kernel.
class Chains {
 public:
  explicit Chains(const ir::Program& kernel) { terms(kernel.body); }
  std::int64_t longest() const { return longest_; }

 private:
  using Terms = std::map<std::string, std::int64_t>;

  Terms terms(const ir::Body& body) {
    Terms result;
    std::vector<std::string> started;
    const auto add = [&](const Terms& more, std::int64_t times) {
      for (const auto& [name, count] : more) result[name] += times * count;
    };
    for (const ir::Stmt& stmt : body) {
      if (const auto* start = stmt.as<ir::Init>(); start != nullptr && start->op == ir::Op::add)
        started.push_back(start->acc);
      if (const auto* accum = stmt.as<ir::Accum>();
          accum != nullptr && (accum->op == ir::Op::add || accum->op == ir::Op::fma))
        add({{accum->dst, 1}}, 1);
      if (const auto* mma = stmt.as<ir::Mma>())
        for (const std::string& sum : mma->sums) add({{sum, ir::mma::find_atom(mma->atom)->k}}, 1);
      if (const auto* dot = stmt.as<ir::DotPairs>()) add({{dot->acc, ir::pairs::depth}}, 1);
      if (const ir::Body* inner = ir::inner_body(stmt)) {
        const std::size_t outside = scope_.size();
        std::int64_t trips = 1;
        if (const auto* tile = stmt.as<ir::Tile>())
          for (const ir::Axis& axis : tile->axes) scope_.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
        if (const auto* loop = stmt.as<ir::Loop>()) {
          const std::int64_t start = ir::bounds(loop->start, scope_).value().low;
          trips = (loop->axis.extent - start + loop->step - 1) / loop->step;
          scope_.emplace_back(loop->axis.name, ir::range_of(*loop));
        }
        add(terms(*inner), trips);
        scope_.resize(outside);
      }
    }
    for (const std::string& name : started) {
      longest_ = std::max(longest_, result[name]);
      result.erase(name);
    }
    return result;
  }

  ir::Ranges scope_;
  std::int64_t longest_ = 0;
};

struct Case {
  const char* name;
  const char* text;  // N is the number of terms of a sum
};

const Case cases[] = {
    {"rows",
     "input x: f32[3, N]\noutput y: f32[3]\nfor a0 in 0..3: # free\n  for a1 in 0..N: # reduce\n"
     "    in0 = load x[a0, a1]\n    acc0 <- add(acc0, in0)\n  y[a0] = acc0\n"},
    {"columns",
     "input x: f32[N, 6]\noutput y: f32[6]\nfor a0 in 0..6: # free\n  for a1 in 0..N: # reduce\n"
     "    in0 = load x[a1, a0]\n    acc0 <- add(acc0, in0)\n  y[a0] = acc0\n"},
    {"constants",
     "input x: f32[5, 1]\noutput y: f32[5]\nfor a0 in 0..5: # free\n  for a1 in 0..N: # reduce\n"
     "    in0 = load x[a0, 0]\n    acc0 <- add(acc0, in0)\n  y[a0] = acc0\n"},
    {"all",
     "input x: bf16[N]\noutput y: f32[1]\nfor a0 in 0..N: # reduce\n  in0 = load x[a0]\n  acc0 <- add(acc0, in0)\n"
     "y[0] = acc0\n"},
    {"variance",
     "input x: f32[N, 4]\noutput y: f32[4]\nfor a0 in 0..4: # free\n"
     "  for a1 in 0..N: # reduce\n    in0 = load x[a1, a0]\n    acc0 <- add(acc0, in0)\n"
     "  v0 = multiply(acc0, 0.0009765625)\n"
     "  for a2 in 0..N: # reduce\n    in1 = load x[a2, a0]\n    v1 = subtract(in1, v0)\n    v2 = multiply(v1, v1)\n"
     "    acc1 <- add(acc1, v2)\n  y[a0] = acc1\n"},
    {"softmax",
     "input x: f32[2, N]\noutput y: f32[2]\nfor a0 in 0..2: # free\n  for a1 in 0..N: # reduce\n"
     "    in0 = load x[a0, a1]\n    acc0, acc1 <- softmax_sum(in0, 1)\n  v0 = divide(1, acc1)\n  y[a0] = v0\n"},
};

ir::Program program(const Case& c, std::int64_t n) {
  return ir::parse(fmt::format("=== loop: {} ===\nsymbols N\n{}", c.name, c.text), {{"N", n}}, c.name);
}

ir::Program products(const std::string& type, std::int64_t k) {
  return ir::parse(fmt::format("=== loop: products ===\nsymbols K\ninput a: {0}[32, K]\ninput b: {0}[K, 32]\n"
                               "output c: f32[32, 32]\n"
                               "for a0 in 0..32: # free\n  for a1 in 0..32: # free\n    for a2 in 0..K: # reduce\n"
                               "      in0 = load a[a0, a2]\n      in1 = load b[a2, a1]\n      v0 = multiply(in0, in1)\n"
                               "      acc0 <- add(acc0, v0)\n    c[a0, a1] = acc0\n",
                               type),
                   {{"K", k}}, "products");
}

constexpr const char* targets[] = {"opencl-cpu", "opencl-cpu-bf16", "sm_80", "sm_90"};

class LongSums : public ::testing::TestWithParam<const char*> {
 protected:
  const Target target_ = load_target(GetParam());
};

// A pipeline's loop and its peeled tail add up to 256 terms each to the same accumulator, whatever n is.
constexpr std::int64_t longest_plain = 2 * 256;

TEST_P(LongSums, NoScheduleAddsManyTermsToOneAccumulator) {
  for (const Case& c : cases) {
    for (const std::int64_t n : {1000, 9973, 1000000, 40000000}) {
      const ir::Program loop = program(c, n);
      EXPECT_LE(Chains(materialize(heuristic(loop, target_).program(), target_)).longest(), longest_plain)
          << c.name << " " << n;
      for_each_schedule(
          3,
          [&](std::uint64_t seed) {
            return Drawn{loop, drawn_schedule(loop, target_, seed)};
          },
          [&](const ir::Program&, const Lowering& lowering, std::uint64_t) {
            const ir::Program kernel = materialize(lowering.program(), target_);
            ASSERT_LE(Chains(kernel).longest(), longest_plain) << c.name << " " << n << "\n" << ir::print(kernel);
          });
    }
  }
}

TEST_P(LongSums, NorASumOfManyProducts) {
  for (const char* type : {"f32", "bf16"}) {
    const ir::Program loop = products(type, 1000000);
    for_each_schedule(
        6,
        [&](std::uint64_t seed) {
          return Drawn{loop, drawn_schedule(loop, target_, seed)};
        },
        [&](const ir::Program&, const Lowering& lowering, std::uint64_t) {
          const ir::Program kernel = materialize(lowering.program(), target_);
          bool warpgroups = false;
          ir::for_each(kernel.body, [&](const ir::Stmt& s) { warpgroups |= s.as<ir::Wgmma>() != nullptr; });
          ASSERT_TRUE(warpgroups || Chains(kernel).longest() <= ir::longest_chain) << type << "\n" << ir::print(kernel);
        });
  }
}

TEST_P(LongSums, AreWhatTheyWere) {
  for (const Case& c : cases)
    for (const std::int64_t n : {1000, 1009, 4112})
      check_drawn_schedules(program(c, n), target_, 3, fmt::format("{} {}", c.name, n));
}

INSTANTIATE_TEST_SUITE_P(Targets, LongSums, ::testing::ValuesIn(targets));

// Sums that were fast before long sums were split keep their form.
TEST(LongSums, ShortOnesAreLeftAlone) {
  const Target target = load_target("opencl-cpu");
  for (const ir::Program& loop : {program(cases[0], 4096), products("f32", 4096)}) {
    const ir::Program kernel = materialize(heuristic(loop, target).program(), target);
    int sums = 0;
    ir::for_each(kernel.body, [&](const ir::Stmt& stmt) { sums += stmt.as<ir::Init>() != nullptr ? 1 : 0; });
    EXPECT_EQ(Chains(kernel).longest(), loop.name == "rows" ? 4096 / 16 / 4 + 2 : 4096) << ir::print(kernel);
    EXPECT_GT(sums, 0);
  }
}

}  // namespace
}  // namespace deplo::rules
