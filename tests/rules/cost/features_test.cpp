// Compares features with counts made by hand, and with a run of the Kernel IR thread by thread.
#include "rules/cost/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/rng.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

ir::Program loop_of(std::string_view name, const ir::Symbols& symbols) {
  return ir::parse(kernel(name).text, symbols, std::string(name));
}

ir::Program lower(std::string_view name, const ir::Symbols& symbols, std::string_view target, std::string_view trail) {
  return follow(loop_of(name, symbols), load_target(target), parse_trail(trail)).value().program();
}

/// Runs the loops of every thread and counts the operations.
class Execution {
 public:
  explicit Execution(const ir::Program& kernel) : kernel_(kernel) { axes(tile_of(kernel), 0); }
  double loads = 0, stores = 0, shared_loads = 0, shared_stores = 0, flops = 0, bytes = 0, branches = 0;

 private:
  void axes(const ir::Tile& tile, std::size_t axis) {
    if (axis == tile.axes.size()) return body(tile.body);
    for (std::int64_t v = 0; v < tile.axes[axis].extent; ++v) {
      at_.emplace_back(tile.axes[axis].name, v);
      axes(tile, axis + 1);
      at_.pop_back();
    }
  }
  void access(const std::string& buffer, int lanes, double& global, double& shared) {
    ++(kernel_.find(buffer) != nullptr ? global : shared);
    if (kernel_.find(buffer) != nullptr) bytes += 4 * lanes;
  }
  void body(const ir::Body& statements) {
    for (const ir::Stmt& stmt : statements) {
      if (const auto* s = stmt.as<ir::Load>()) access(s->buffer, s->type.lanes, loads, shared_loads);
      if (const auto* s = stmt.as<ir::Write>()) access(s->buffer, s->lanes, stores, shared_stores);
      if (const auto* s = stmt.as<ir::Assign>(); s && s->op != ir::Op::copy)
        flops += (s->op == ir::Op::fma ? 2 : 1) * s->type.lanes;
      if (const auto* s = stmt.as<ir::Accum>()) flops += (s->op == ir::Op::fma ? 2 : 1) * s->type.lanes;
      const auto* loop = stmt.as<ir::Loop>();
      if (loop == nullptr) continue;
      for (std::int64_t v = ir::evaluate(loop->start, at_); v < loop->axis.extent; v += loop->step) {
        ++branches;
        at_.emplace_back(loop->axis.name, v);
        body(loop->body);
        at_.pop_back();
      }
    }
  }

  const ir::Program& kernel_;
  std::vector<std::pair<std::string, std::int64_t>> at_;
};

/// Returns true if the kernel has none of the statements that count_mix only estimates, or that Execution does not run.
bool plain(const ir::Program& kernel) {
  bool all = true;
  ir::for_each(kernel.body, [&](const ir::Stmt& s) {
    all &= s.as<ir::If>() == nullptr && s.as<ir::WarpShuffle>() == nullptr && s.as<ir::TreeHalve>() == nullptr &&
           s.as<ir::CpAsyncCopy>() == nullptr && s.as<ir::TmaLoad>() == nullptr;
  });
  return all;
}

TEST(Features, TheMixIsWhatARunMeets) {
  const std::pair<const char*, ir::Symbols> cases[] = {{"matmul", {{"M", 33}, {"N", 24}, {"K", 20}}},
                                                       {"rmsnorm", {{"M", 6}, {"D", 96}}},
                                                       {"silu_mul", {{"M", 5}, {"N", 77}}},
                                                       {"softmax", {{"M", 3}, {"N", 61}}}};
  int compared = 0;
  Rng rng(1);
  for (const auto& [name, symbols] : cases)
    for (const char* target_name : {"opencl-cpu", "opencl-gpu", "sm_80"})
      for (int i = 0; i < 12; ++i) {
        const Target target = load_target(target_name);
        Lowering lowering(loop_of(name, symbols), target);
        while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
        const ir::Program kernel = materialize(lowering.program(), target);
        if (!plain(kernel)) continue;
        const Execution run(kernel);
        const Mix mix = count_mix(kernel, target);
        const std::string where = std::string(name) + " " + target_name + " " + print(lowering.trail());
        EXPECT_NEAR(mix.loads, run.loads, 1e-6 * run.loads) << where;
        EXPECT_NEAR(mix.stores, run.stores, 1e-6 * run.stores) << where;
        EXPECT_NEAR(mix.shared_loads, run.shared_loads, 1e-6 * run.shared_loads) << where;
        EXPECT_NEAR(mix.shared_stores, run.shared_stores, 1e-6 * run.shared_stores) << where;
        EXPECT_NEAR(mix.flops, run.flops, 1e-6 * run.flops) << where;
        EXPECT_NEAR(mix.branches, run.branches, 1e-6 * run.branches) << where;
        EXPECT_NEAR(mix.requested_bytes, run.bytes, 1e-6 * run.bytes) << where;
        ++compared;
      }
  EXPECT_GE(compared, 60);
}

// A matmul of 64 x 64 x 64 in four blocks of 32 x 32. Each thread computes 4 x 16 outputs as 4 vectors of 16.
constexpr const char* cpu_matmul =
    "chunk_matmul_k.bk=64 blockify_launch.bm=32 blockify_launch.bn=32 stage_inputs.a=0 stage_inputs.b=0 "
    "register_tile.fm=4 register_tile.fn=16 vectorize.width=16";

TEST(Features, AMatmulOnACpuByHand) {
  const Target target = load_target("opencl-cpu");
  const Features f = features(lower("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "opencl-cpu", cpu_matmul), target);
  EXPECT_EQ(f.blocks, 4);
  EXPECT_EQ(f.threads, 16);  // 8 x 2 threads
  EXPECT_EQ(f.lanes, 16);
  EXPECT_EQ(f.mix.flops, 2 * 64 * 64 * 64);
  EXPECT_EQ(f.mix.arithmetic, 64 * 64 * 64 / 16);  // fma of 16 lanes
  EXPECT_EQ(f.mix.loads, 4 * 16 * 64 * (4 + 1));   // 64 iterations: 4 elements of a, a vector of b
  EXPECT_EQ(f.mix.stores, 4 * 16 * 4);
  EXPECT_EQ(f.mix.chain, 64);
  EXPECT_EQ(f.mix.requested_bytes, 4.0 * 16 * (64 * (4 * 4 + 64) + 4 * 64));
  EXPECT_EQ(f.mix.registers, 4 + 4 + 1);  // 4 accumulators, 4 elements of a, a vector of b
  EXPECT_EQ(f.compulsory_bytes, 3 * 64 * 64 * 4);
  EXPECT_EQ(f.waves, 2);  // 4 blocks on 2 cores
  EXPECT_EQ(f.tail, 0);
  EXPECT_EQ(f.occupancy, 1);
}

// The three matrices take 16 KiB each and do not fit in 24 KB. One iteration of the outer block axis (rows) touches 32
// rows of a and of c, and all of b: 32 KiB, which does not fit. One iteration of the inner block axis (columns) touches
// 32 rows of a (8 KiB), 32 columns of b (8 KiB), and 32 x 32 elements of c (4 KiB), which fits. So the inner iterations
// together load their rows of a once and all of b once, in each of the two outer iterations.
TEST(Features, TrafficOfAMatmulByHand) {
  const Target target = load_target("opencl-cpu");
  const Traffic traffic(lower("matmul", {{"M", 64}, {"N", 64}, {"K", 64}}, "opencl-cpu", cpu_matmul), target);
  EXPECT_EQ(traffic.through(1e6), 3 * 16384);                    // loads everything once
  EXPECT_EQ(traffic.through(33000), 3 * 16384);                  // an outer iteration fits
  EXPECT_EQ(traffic.through(24000), 2 * (8192 + 16384 + 8192));  // as computed above
  // Nothing fits. In each of 4 blocks, each of 16 threads loads 4 lines of a and one of b in each of 64 iterations; c
  // is accessed outside the loop.
  EXPECT_EQ(traffic.through(64), 4 * 16 * (64.0 * (4 + 1) + 4) * 64);
}

// A gather moves only the rows of the table (200 MB) that the indices select.
TEST(Features, AGatherMovesTheRowsThatItChooses) {
  const ir::Program loop = ir::parse(
      "=== loop: embedding ===\ninput ids: i32[8192] in randint(0, 50000)\ninput w: f32[50000, 1024]\n"
      "output y: f32[8192, 1024]\nfor a0 in 0..8192: # free\n  in0:i32 = load ids[a0]\n  for a1 in 0..1024: # free\n"
      "    in1 = load w[min(max(in0, 0), 49999), a1]\n    y[a0, a1] = in1\n");
  for (const char* name : {"sm_90", "opencl-cpu"}) {
    const Target target = load_target(name);
    const double rows = 8192.0 * 1024 * 4;
    const Features f = features(heuristic(loop, target).program(), target);
    EXPECT_GE(f.traffic.back(), 2 * rows) << name;
    EXPECT_LE(f.traffic.back(), 2.1 * rows) << name;
  }
}

TEST(Features, AStagedMatmulOnAGpuByHand) {
  const Target target = load_target("sm_80");
  const ir::Program tile =
      lower("matmul", {{"M", 512}, {"N", 512}, {"K", 128}}, "sm_80",
            "chunk_matmul_k.bk=16 split_matmul_k.splits=1 blockify_launch.bm=64 blockify_launch.bn=64 raster.group=1 "
            "stage_inputs.a=1 stage_inputs.b=1 register_tile.fm=4 register_tile.fn=4");
  const Features f = features(tile, target);
  EXPECT_EQ(f.blocks, 64);
  EXPECT_EQ(f.threads, 256);
  EXPECT_EQ(f.mix.flops, 2.0 * 512 * 512 * 128);
  EXPECT_EQ(f.mix.arithmetic, 512.0 * 512 * 128);  // one lane per instruction
  // Each block loads 8 chunks, with 64 x 16 elements of a and of b each.
  EXPECT_EQ(f.mix.requested_bytes, 4.0 * (64 * 8 * (64 * 16 * 2) + 512 * 512));
  EXPECT_GE(f.shared_bytes, 4 * 64 * 16 * 2);
  EXPECT_EQ(f.compulsory_bytes, 4.0 * (512 * 128 * 2 + 512 * 512));
  EXPECT_GE(f.registers, 16 + 24);
  EXPECT_LT(f.waves, 1);  // 108 units
  EXPECT_DOUBLE_EQ(f.tail, 1 - f.waves);
  EXPECT_GE(f.conflicts, 1);
}

// 16-bit multiply-adds per cycle: a unit of an A100 does 1,024, a unit of an H100 does 2,048 with instructions of
// warpgroups. With instructions of warps, an H100 does 0.63 of these.
TEST(Features, TensorCyclesByHand) {
  ir::Program loop = matmul(512, 512, 128);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = ir::DType::bf16;
  const auto cycles = [&](const std::string& target_name, const std::string& atom) {
    const Target target = load_target(target_name);
    return features(heuristic_with(loop, target, "mma.atom", Value(atom)).program(), target).mix.tensor_cycles;
  };
  // A warp does a quarter of its unit's multiply-adds per cycle.
  const double all = 512.0 * 512 * 128;
  EXPECT_DOUBLE_EQ(cycles("sm_80", "m16n8k16"), all / 256);
  EXPECT_DOUBLE_EQ(cycles("sm_90", "m64n64k16"), all / 512);
  EXPECT_NEAR(cycles("sm_90", "m16n8k16"), all / 512 / 0.63, 1e-6);
  EXPECT_EQ(cycles("sm_90", "none"), 0);
}

// Two chunks of K = 16 are fully unrolled. Each of 4 rows of a is read as 4 vectors of 4 steps; b is read by vectors in
// any case.
TEST(Features, LoadsAlongAnUnrolledLoopAreOneWideLoad) {
  const Target target = load_target("sm_80");
  // Chooses the named values. Other knobs take the value that leaves the program unchanged (as_before), or else the
  // first option.
  const auto of = [&](std::int64_t unroll) {
    const std::map<std::string, std::int64_t, std::less<>> named = {
        {"chunk_matmul_k.bk", 16}, {"split_matmul_k.splits", 1}, {"blockify_launch.bm", 64}, {"blockify_launch.bn", 64},
        {"register_tile.fm", 4},   {"register_tile.fn", 4},      {"double_buffer.depth", 1}, {"pad_smem.a", 0}};
    Lowering lowering(loop_of("matmul", {{"M", 128}, {"N", 128}, {"K", 32}}), target);
    while (lowering.fork()) {
      const Fork& fork = *lowering.fork();
      const auto name = named.find(fork.knob);
      std::optional<Value> wanted = lowering.as_before();
      if (name != named.end()) wanted = Value{name->second};
      if (fork.knob.starts_with("mark_unroll")) wanted = Value{unroll};
      const auto at = wanted ? std::ranges::find(fork.options, *wanted) : fork.options.begin();
      lowering.choose(static_cast<std::size_t>(at - fork.options.begin()));
    }
    return features(lowering.program(), target);
  };
  const Features whole = of(0), rolled = of(1), half = of(2);
  const double a_loads = 128.0 * 128 / 4 * 32;  // a thread has 16 outputs, and loads 4 scalars of a per step
  EXPECT_EQ(rolled.joined_loads, 0);
  EXPECT_EQ(whole.joined_loads, a_loads * 3 / 4);
  EXPECT_EQ(half.joined_loads, a_loads / 2);
  EXPECT_EQ(whole.mix.shared_loads, rolled.mix.shared_loads);
  EXPECT_LT(whole.wavefronts, rolled.wavefronts);
  EXPECT_EQ(rolled.mix.shared_waits, 32);
  EXPECT_EQ(half.mix.shared_waits, 16);
  EXPECT_EQ(whole.mix.shared_waits, 2);
  EXPECT_EQ(whole.slabs, 2);
  EXPECT_EQ(whole.ahead, 0);
}

TEST(Features, APipelinesSlabsAreAhead) {
  const Target target = load_target("sm_90");
  const Features f =
      features(heuristic(loop_of("matmul", {{"M", 512}, {"N", 512}, {"K", 512}}), target).program(), target);
  EXPECT_EQ(f.ahead, 1);
  EXPECT_GT(f.slabs, 1);
  EXPECT_EQ(f.zeroed_bytes > 0, f.mix.atomics > 0);
}

// If all 64 blocks run at once, the part of b that one row of blocks reads serves all rows of blocks. If blocks run one
// at a time, each row of blocks reads b again.
TEST(Features, BlocksThatRunTogetherShareTheLastCache) {
  const Target target = load_target("sm_80");
  const Traffic traffic(lower("matmul", {{"M", 512}, {"N", 512}, {"K", 128}}, "sm_80",
                              "chunk_matmul_k.bk=16 split_matmul_k.splits=1 blockify_launch.bm=64 "
                              "blockify_launch.bn=64 raster.group=1 stage_inputs.a=1 stage_inputs.b=1"),
                        target);
  const double a = 4.0 * 512 * 128, b = a, c = 4.0 * 512 * 512;
  EXPECT_EQ(traffic.through(1e3, 64), a + b + c);
  EXPECT_EQ(traffic.through(1e3, 8), a + 8 * b + c);  // one row of blocks runs at a time
  EXPECT_EQ(traffic.through(1e3), 8 * a + 8 * b + c);
  EXPECT_EQ(traffic.through(1e8, 1), a + b + c);
}

TEST(Features, EachHasANameAndIsFinite) {
  Rng rng(3);
  for (const Kernel& each : kernels()) {
    ir::Symbols symbols;
    for (const std::string& symbol : each.symbols) symbols[symbol] = 24;
    for (const char* name : {"opencl-cpu", "opencl-gpu", "sm_90"}) {
      const Target target = load_target(name);
      Lowering lowering(ir::parse(each.text, symbols, each.name), target);
      while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
      const std::vector<float> values = feature_vector(features(lowering.program(), target));
      ASSERT_EQ(values.size(), feature_names().size());
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_TRUE(std::isfinite(values[i])) << each.name << " " << name << " " << feature_names()[i];
    }
  }
}

}  // namespace
}  // namespace deplo::rules
