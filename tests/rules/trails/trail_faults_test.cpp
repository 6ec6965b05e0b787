// Tests that random trails can fail: faults planted in the Kernel IR are found, and their cases are shrunk to what the
// faults need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "ir/walk.h"
#include "rules/lower.h"
#include "rules/options.h"
#include "rules/programs.h"
#include "rules/trails/trail_case.h"

namespace deplo::rules {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

ir::Program without_barriers(ir::Program kernel) {
  edit_bodies(kernel.body, [](ir::Body& body) {
    std::erase_if(body, [](const ir::Stmt& stmt) { return stmt.as<ir::Sync>() != nullptr; });
  });
  return kernel;
}

// Plants a fault: replaces the first or the last ClusterSync by an ordinary barrier.
template <bool last>
ir::Program without_cluster_barrier(ir::Program kernel) {
  std::vector<ir::Stmt*> barriers;
  edit_bodies(kernel.body, [&](ir::Body& body) {
    for (ir::Stmt& stmt : body)
      if (stmt.as<ir::ClusterSync>() != nullptr) barriers.push_back(&stmt);
  });
  if (!barriers.empty()) *(last ? barriers.back() : barriers.front()) = ir::Sync{};
  return kernel;
}

// Plants a fault: every second sum of a run of accumulators is lost. This is wrong only if a thread owns several.
ir::Program with_lost_sums(ir::Program kernel) {
  edit_bodies(kernel.body, [](ir::Body& body) {
    for (std::size_t i = 1; i < body.size(); ++i)
      if (body[i].as<ir::Accum>() != nullptr && body[i - 1].as<ir::Accum>() != nullptr) body[i] = body[i - 1];
  });
  return kernel;
}

// Plants a fault: the barrier after the wait for a slab comes after the fill of a later slab, whose slot may still be
// read.
ir::Program with_late_barriers(ir::Program kernel) {
  edit_bodies(kernel.body, [](ir::Body& body) {
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      if (body[i].as<ir::CpAsyncWait>() == nullptr || body[i + 1].as<ir::Sync>() == nullptr) continue;
      const auto commits = [](const ir::Stmt& stmt) { return stmt.as<ir::CpAsyncCommit>() != nullptr; };
      const auto barrier = body.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      const auto commit = std::find_if(barrier, body.end(), commits);
      if (commit != body.end()) std::rotate(barrier, barrier + 1, commit + 1);
    }
  });
  return kernel;
}

ir::Expr at_least_0(ir::Expr e) { return {ir::ExprOp::max, std::move(e), 0}; }

// Plants a fault: reads beyond the image's edge give the element at the edge.
ir::Program without_padding(ir::Program kernel) {
  return edited<ir::Assign>(std::move(kernel), [](ir::Assign& assign) {
    if (assign.op == ir::Op::select && assign.args.size() == 3) assign.args[2] = assign.args[1];
  });
}

// Plants a fault: the window that a block reads begins one element too early.
ir::Program with_wrong_halo(ir::Program kernel) {
  return edited<ir::Load>(std::move(kernel), [](ir::Load& load) {
    if (load.buffer == "x") load.index.back() = at_least_0(load.index.back() - 1);
  });
}

// Plants a fault: the elements of the convolution's kernel are one position closer together in the image than they
// should be.
ir::Program with_close_elements(ir::Program kernel) {
  edit_bodies(kernel.body, [](ir::Body& body) {
    const ir::Load* weight = nullptr;
    for (const ir::Stmt& stmt : body)
      if (const auto* load = stmt.as<ir::Load>(); load && load->buffer == "w") weight = load;
    if (!weight) return;
    const ir::Expr element = weight->index.back();
    for (ir::Stmt& stmt : body)
      if (auto* load = stmt.as<ir::Load>(); load && load->buffer == "x")
        load->index.back() = at_least_0(load->index.back() - element);
  });
  return kernel;
}

// Plants a fault: the total before a part of a line is not added to it.
ir::Program with_lost_parts(ir::Program kernel) {
  return edited<ir::Assign>(std::move(kernel), [](ir::Assign& assign) {
    if (assign.op == ir::Op::select && assign.args.size() == 3) assign.args[1] = assign.args[2];
  });
}

// Plants a fault: the first block's total is not added to the blocks after it.
ir::Program with_dropped_total(ir::Program kernel) {
  return edited<ir::Loop>(std::move(kernel), [](ir::Loop& loop) {
    bool adds = false, writes = false;
    ir::for_each(loop.body, [&](const ir::Stmt& stmt) {
      adds |= stmt.as<ir::Accum>() != nullptr;
      writes |= stmt.as<ir::Write>() != nullptr;
    });
    if (adds && !writes) loop.start = loop.start + 1;
  });
}

/// Returns the first case, from seed 1 on, that fails with the fault. Its kernel's name begins with `kernel`, and `has`
/// holds for its trail. Returns an empty case if there is none.
TrailCase first_failing(
    const char* target, Fault fault, const std::function<bool(const Trail&)>& has = [](const Trail&) { return true; },
    std::string_view kernel = "matmul") {
  for (std::uint64_t seed = 1; seed < 2000; ++seed) {
    TrailCase c = random_case(target, seed);
    if (!c.kernel.starts_with(kernel)) continue;
    c.fault = fault;
    if (const Finding found = attempt(c); !found.failure.empty() && has(found.trail)) return c;
  }
  return {};
}

TEST(PlantedFaults, AMissingBarrierIsARace) {
  const TrailCase drawn = first_failing("sm_80", without_barriers);
  ASSERT_NE(drawn.kernel, "") << "nothing found";
  const TrailCase small = shrink(drawn);
  EXPECT_EQ(small.seed, 0U);
  EXPECT_THAT(attempt(small).failure, HasSubstr("race")) << describe(small);
  EXPECT_LE(small.wanted.size(), 4U) << describe(small);
  for (const auto& [symbol, value] : small.symbols) EXPECT_LE(value, drawn.symbols.at(symbol));
  // The fault and each choice are necessary: without the fault, or without any one of the choices, the case does not
  // fail.
  TrailCase sound = small;
  sound.fault = nullptr;
  EXPECT_EQ(attempt(sound).failure, "");
  for (std::size_t i = 0; i < small.wanted.size(); ++i) {
    TrailCase simpler = small;
    simpler.wanted.erase(simpler.wanted.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(attempt(simpler).failure, "") << describe(simpler);
  }
}

TEST(PlantedFaults, AMissingBarrierOfAClusterIsFound) {
  const TrailCase before = first_failing("sm_90", without_cluster_barrier<false>);
  ASSERT_NE(before.kernel, "") << "nothing found";
  EXPECT_THAT(attempt(before).failure, AnyOf(HasSubstr("nothing wrote"), HasSubstr("race: no ClusterSync")));
  const TrailCase behind = first_failing("sm_90", without_cluster_barrier<true>);
  ASSERT_NE(behind.kernel, "") << "nothing found";
  EXPECT_THAT(attempt(behind).failure, HasSubstr("may end while another one reads"));
}

TEST(PlantedFaults, ALostSumIsAWrongValueOfARegisterTile) {
  const TrailCase drawn = first_failing("opencl-gpu", with_lost_sums);
  ASSERT_NE(drawn.kernel, "") << "nothing found";
  const TrailCase small = shrink(drawn);
  EXPECT_THAT(attempt(small).failure, HasSubstr("kernel IR means something else")) << describe(small);
  EXPECT_LE(small.wanted.size(), 3U) << describe(small);
}

void expect_wrong_value(const char* kernel, Fault fault) {
  const TrailCase drawn = first_failing(
      "opencl-gpu", fault, [](const Trail&) { return true; }, kernel);
  ASSERT_NE(drawn.kernel, "") << kernel << ": nothing found";
  EXPECT_THAT(attempt(drawn).failure, HasSubstr("kernel IR means something else")) << describe(drawn);
  TrailCase sound = drawn;
  sound.fault = nullptr;
  EXPECT_EQ(attempt(sound).failure, "") << describe(sound);
}

TEST(PlantedFaults, AnUnguardedPaddingIsAWrongValue) {
  for (const char* kernel : {"conv2d_depthwise", "conv2d_grouped", "conv2d_transposed"})
    expect_wrong_value(kernel, without_padding);
}

TEST(PlantedFaults, AWrongHaloIsAWrongValue) {
  for (const char* kernel : {"conv2d_depthwise", "conv2d_grouped"}) expect_wrong_value(kernel, with_wrong_halo);
}

TEST(PlantedFaults, ADilationOffByOneIsAWrongValue) { expect_wrong_value("conv2d_dilated", with_close_elements); }

TEST(PlantedFaults, ADroppedPartOfAScanIsAWrongValue) { expect_wrong_value("scan_of_parts", with_lost_parts); }

TEST(PlantedFaults, ADroppedTotalOfAScanIsAWrongValue) { expect_wrong_value("scan_of_runs", with_dropped_total); }

// The extents of a drawn tile program shrink, and so does its number of steps.
TEST(PlantedFaults, AMissingBarrierOfATileProgramIsShrunk) {
  TrailCase drawn;
  for (std::uint64_t seed = 1; seed < 500 && drawn.kernel.empty(); ++seed) {
    TrailCase c = random_tile_case("sm_80", seed);
    c.fault = without_barriers;
    if (c.kernel == "tile/product" && !attempt(c).failure.empty()) drawn = c;
  }
  ASSERT_NE(drawn.kernel, "") << "nothing found";
  const TrailCase small = shrink(drawn);
  EXPECT_THAT(attempt(small).failure, AllOf(HasSubstr("race"), HasSubstr("entry @drawn("))) << describe(small);
  EXPECT_EQ(small.symbols.at("S"), 1) << describe(small);
  TrailCase sound = small;
  sound.fault = nullptr;
  EXPECT_EQ(attempt(sound).failure, "");
}

// The fault is found in both kinds of pipelines.
TEST(PlantedFaults, ASlotThatIsReusedEarlyIsARace) {
  for (const char* tail : {"peeled", "predicated"}) {
    const TrailCase drawn = first_failing("sm_80", with_late_barriers, [&](const Trail& trail) {
      return std::ranges::any_of(trail, [&](const Choice& choice) { return choice.value == Value{tail}; });
    });
    ASSERT_NE(drawn.kernel, "") << "nothing found: " << tail;
    EXPECT_THAT(attempt(drawn).failure, HasSubstr("race")) << describe(drawn);
  }
}

// A seed draws the same case, whichever process tries it.
TEST(PlantedFaults, SeveralProcessesFindWhatOneFinds) {
  const auto alone = failing_seeds("opencl-gpu", 1, 24, 1, 24);
  EXPECT_EQ(failing_seeds("opencl-gpu", 1, 24, 3, 24), alone);
}

TEST(Options, AreWordsAndAssignments) {
  TestOptions options;
  EXPECT_EQ(parse_options({"--cases", "100000", "--seed=7", "--jobs", "4"}, options), "");
  EXPECT_EQ(options.cases, 100000U);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.jobs, 4U);
  EXPECT_EQ(parse_options({"--kernels", "attention", "--kernels=soft"}, options), "");
  EXPECT_EQ(options.kernels, "soft");
  EXPECT_EQ(parse_options({"--kernels"}, options), "--kernels: expected a prefix, found none");
  EXPECT_EQ(parse_options({"--cases"}, options), "--cases: expected a number, found none");
  EXPECT_EQ(parse_options({"--jobs=0"}, options), "--jobs: expected a number, found '0'");
  EXPECT_EQ(parse_options({"--cases=1e5"}, options), "--cases: expected a number, found '1e5'");
  EXPECT_EQ(parse_options({"--case=1"}, options),
            "expected --cases N, --seed S, --jobs J or --kernels PREFIX, found --case=1");
}

}  // namespace
}  // namespace deplo::rules
