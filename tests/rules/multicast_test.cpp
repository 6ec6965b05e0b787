// Tests blocks that fill each other's slots: results are right in any order of the blocks and their producers, and
// faults in the synchronisation are detected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "ir/walk.h"
#include "rules/cost/features.h"
#include "rules/drawn_schedules.h"
#include "rules/golden.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::multicast_test {
namespace {

using ::testing::HasSubstr;

constexpr std::array goldens = {"rows_small",         "four_rows_small", "eight_rows",
                                "columns_tail_small", "raster_small",    "warpgroup"};

Golden golden(const char* name) {
  return read_golden(std::string(DEPLO_SOURCE_DIR "/tests/golden/multicast/") + name + ".ir");
}

/// Returns the Kernel IR of the golden's program after the rule.
ir::Program kernel_of(const char* name) {
  const Golden of = golden(name);
  return materialize(ir::parse(of.after), load_target(of.target));
}

TEST(Multicast, IsRightInAnyOrder) {
  for (const char* name : goldens) {
    const ir::Program kernel = kernel_of(name);
    EXPECT_EQ(ir::parse(ir::print(kernel)), kernel) << name;
    for (std::uint64_t order = 0; order < 12; ++order)
      ASSERT_EQ(finding(ir::parse(golden(name).before), kernel, order), "") << name << ", order " << order << "\n"
                                                                            << ir::print(kernel);
  }
}

// The barriers of a cluster make blocks wait for each other, but not for each other's stores.
TEST(Multicast, BarriersOfClustersOrderNoData) {
  const Golden of = golden("warpgroup");
  const std::string text = ir::emit(kernel_of("warpgroup"), load_target(of.target)).text;
  EXPECT_THAT(text, HasSubstr("barrier.cluster.arrive.relaxed.aligned;"));
  EXPECT_THAT(text, HasSubstr("barrier.cluster.wait.acquire.aligned;"));
  EXPECT_EQ(text.find("barrier.cluster.arrive.release"), std::string::npos);
}

// The slab of b has 16 rows of k in two panels. Each of two blocks loads half of the rows.
TEST(Multicast, EachBlockLoadsItsRowsForAll) {
  const std::string text = ir::print(kernel_of("warpgroup"));
  for (const char* part :
       {"TmaDescriptor a_smem_desc(a, box=(64, 16)) swizzle=32\n",
        "TmaDescriptor b_smem_desc(b, box=(8, 64)) swizzle=128\n", "MbarrierInit empty[2] (count=8)\n  ClusterSync\n",
        "bytes=6144)\n",  // 64 x 16 and 16 x 128 elements
        "b_smem_desc[((a8 * 16) + (a3 * 8)), ((a2 * 128) + 64)], mbar[(a8 % 2)], multicast)\n"})
    EXPECT_THAT(text, HasSubstr(part));
}

ir::Program drawn_loop(Rng& rng) {
  constexpr std::array kernels = {"matmul", "linear", "matmul_transposed_b", "linear_bias", "batched_matmul"};
  constexpr std::array<std::int64_t, 4> sides = {32, 64, 72, 128}, depths = {32, 64, 96, 128};
  const Kernel& drawn = kernel(kernels.at(rng.below(kernels.size())));
  ir::Symbols symbols;
  for (const std::string& symbol : drawn.symbols)
    symbols[symbol] = symbol == "B"   ? 2
                      : symbol == "K" ? depths.at(rng.below(depths.size()))
                                      : sides.at(rng.below(sides.size()));
  ir::Program loop = ir::parse(drawn.text, symbols, drawn.name);
  const ir::DType dtype = std::array{ir::DType::f32, ir::DType::f16, ir::DType::bf16}.at(rng.below(3));
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::input) buffer.dtype = dtype;
  loop.allow_tf32 = dtype == ir::DType::f32 && rng.below(2) == 0;
  return loop;
}

/// Returns a random schedule with clusters that share slabs; nullopt if none is legal. Blocks and chunks are small, so
/// that there are clusters and slots are reused.
std::optional<Lowering> drawn_schedule(const ir::Program& loop, const Target& target, Rng& rng) {
  Lowering lowering(loop, target);
  const auto wanted = [](const std::string& knob, const Value& value) {
    if (knob == "chunk_matmul_k.bk") return std::get<std::int64_t>(value) <= 32;
    if (knob == "blockify_launch.bm" || knob == "blockify_launch.bn") return std::get<std::int64_t>(value) <= 64;
    if (knob.starts_with("stage_inputs.") || knob.starts_with("tma_copy.") || knob == "specialize_warps.apply")
      return print(value) == "1";
    if (knob == "multicast.blocks" || knob == "double_buffer.depth") return print(value) != "1";
    return knob != "cluster_matmul_k.blocks" || print(value) == "1";
  };
  bool shares = false;
  while (const auto& fork = lowering.fork()) {
    std::vector<std::size_t> options;
    for (std::size_t i = 0; i < fork->options.size(); ++i)
      if (wanted(fork->knob, fork->options[i])) options.push_back(i);
    if (options.empty()) return std::nullopt;
    shares |= fork->knob == "multicast.blocks";
    lowering.choose(options[rng.below(options.size())]);
  }
  return shares ? std::optional(std::move(lowering)) : std::nullopt;
}

Drawn drawn_for(std::uint64_t seed) {
  Rng rng(seed);
  ir::Program loop = drawn_loop(rng);
  auto lowering = drawn_schedule(loop, load_target(seed % 2 == 0 ? "sm_90" : "sm_100"), rng);
  return {std::move(loop), std::move(lowering)};
}

TEST(Multicast, OfRandomSchedulesIsRight) {
  std::set<std::string> blocks;
  for_each_schedule(30, drawn_for, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    for (const Choice& choice : lowering.trail())
      if (choice.knob == "multicast.blocks") blocks.insert(print(choice.value));
    ASSERT_EQ(finding(loop, lowering.program(), seed), "") << ir::print(lowering.program());
    const Target target = load_target(seed % 2 == 0 ? "sm_90" : "sm_100");
    const ir::Program kernel = materialize(lowering.program(), target);
    for (std::uint64_t order = seed; order < seed + 3; ++order)
      ASSERT_EQ(finding(loop, kernel, order), "") << ir::print(kernel);
    EXPECT_THAT(ir::emit(kernel, target).text, HasSubstr(".multicast::cluster"));
  });
  EXPECT_EQ(blocks, (std::set<std::string>{"2", "4"}));
}

template <class S>
std::vector<S*> all(ir::Body& body) {
  std::vector<S*> result;
  ir::for_each(body, [&](ir::Stmt& stmt) {
    if (auto* s = stmt.as<S>()) result.push_back(s);
  });
  return result;
}

/// Plants a fault: replaces the barriers of the cluster, before the loop and after it, by barriers of the block.
ir::Program without_cluster_barrier(ir::Program kernel) {
  ir::for_each(kernel.body, [&](ir::Stmt& stmt) {
    if (stmt.as<ir::ClusterSync>() != nullptr) stmt = ir::Sync{};
  });
  return kernel;
}

std::int64_t cluster_of(const ir::Program& kernel) { return ir::count_of(kernel.body, ir::Bind::cluster); }

struct Fault {
  const char* name;
  ir::Program (*plant)(ir::Program);
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> list = {
      {"a slot that one block sets free",
       [](ir::Program k) {
         all<ir::MbarrierInit>(k.body).back()->count /= cluster_of(k);
         return k;
       }},
      {"arrivals at the own block's barrier only",
       [](ir::Program k) { return edited<ir::MbarrierArrive>(k, [](ir::MbarrierArrive& a) { a.block.reset(); }); }},
      {"arrivals at one block's barrier only",
       [](ir::Program k) { return edited<ir::MbarrierArrive>(k, [](ir::MbarrierArrive& a) { a.block = 0; }); }},
      {"the bytes of the own part only",
       [](ir::Program k) {
         return edited<ir::MbarrierArriveExpectTx>(k, [&](ir::MbarrierArriveExpectTx& a) { a.bytes /= 2; });
       }},
      {"a part that goes to the own block only",
       [](ir::Program k) {
         for (ir::TmaLoad* load : all<ir::TmaLoad>(k.body)) {
           if (!load->multicast) continue;
           load->multicast = false;
           break;
         }
         return k;
       }},
      {"parts that are swapped",
       [](ir::Program k) {
         return edited<ir::TmaLoad>(k, [&](ir::TmaLoad& load) {
           const auto& tile = *k.body.back().as<ir::Tile>();
           const auto axis = std::ranges::find(tile.axes, ir::Bind::cluster, &ir::Axis::bind);
           const ir::Expr other = ir::Expr(axis->extent - 1) - ir::var(axis->name);
           if (load.multicast)
             for (ir::Expr& e : load.index) e = ir::simplify(ir::substitute(e, {{axis->name, other}}));
         });
       }},
      {"no barrier behind the initialisation", [](ir::Program k) { return without_cluster_barrier(std::move(k)); }},
      {"no wait before a block ends",
       [](ir::Program k) {
         all<ir::Produce>(k.body).front()->body.pop_back();
         return k;
       }},
      {"no wait for a free slot",
       [](ir::Program k) {
         for (ir::Produce* produce : all<ir::Produce>(k.body))
           edit_bodies(produce->body, [](ir::Body& body) {
             std::erase_if(body, [](const ir::Stmt& stmt) { return stmt.as<ir::MbarrierWait>() != nullptr; });
           });
         return k;
       }},
  };
  return list;
}

bool fills_slots_again(ir::Program kernel) {
  const std::int64_t slots = all<ir::MbarrierInit>(kernel.body).back()->slots;
  return std::ranges::any_of(all<ir::Produce>(kernel.body), [&](ir::Produce* produce) {
    return std::ranges::any_of(all<ir::Loop>(produce->body), [&](ir::Loop* loop) { return loop->axis.extent > slots; });
  });
}

TEST(Multicast, FaultsShowInEverySchedule) {
  int tried = 0;
  for_each_schedule(24, drawn_for, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    const ir::Program kernel = materialize(lowering.program(), load_target("sm_90"));
    if (!fills_slots_again(kernel)) return;
    ++tried;
    for (const Fault& fault : faults()) {
      const ir::Program wrong = fault.plant(kernel);
      std::string found;
      for (std::uint64_t order = seed; found.empty() && order < seed + 12; ++order) found = finding(loop, wrong, order);
      EXPECT_NE(found, "") << fault.name << "\n" << ir::print(wrong);
    }
  });
  EXPECT_GE(tried, 4);
}

// Each of two blocks of rows loads all of its a and half of b, so b passes through the caches once. A row of a's slab
// is half a cache line.
TEST(Multicast, ASlabIsReadOnceForItsCluster) {
  const Golden of = golden("rows_small");
  const Target target = load_target("sm_90");
  const Features alone = features(ir::parse(of.before), target), shared = features(ir::parse(of.after), target);
  const double a = 4.0 * 16 * 32, b = 4.0 * 32 * 16, c = 4.0 * 16 * 16;
  EXPECT_EQ(alone.mix.requested_bytes, a + 4 * b + c);
  EXPECT_EQ(shared.mix.requested_bytes, a + 2 * b + c);
  const ir::Program before = ir::parse(of.before), after = ir::parse(of.after);
  EXPECT_EQ(Traffic(before, target).through(64), 2 * a + 4 * b + c);
  EXPECT_EQ(Traffic(after, target).through(64), 2 * a + 2 * b + c);
}

}  // namespace
}  // namespace deplo::rules::multicast_test
