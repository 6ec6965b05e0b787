// Tests matrix instructions of warpgroups in complete schedules, with and without separate threads that copy, and that
// faults in the synchronisation are detected.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"
#include "core/rng.h"
#include "ir/emit/emit.h"
#include "ir/hardware/mma.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/drawn_schedules.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::wgmma_test {
namespace {

using ::testing::HasSubstr;

ir::Program drawn_loop(Rng& rng) {
  constexpr std::array kernels = {"matmul", "linear", "matmul_transposed_b", "linear_bias", "matmul_silu"};
  constexpr std::array<std::int64_t, 4> sides = {64, 72, 128, 192}, depths = {32, 64, 96, 128};
  const ir::DType dtype = rng.below(2) == 0 ? ir::DType::f16 : ir::DType::bf16;
  const bool computed = rng.below(3) == 0;
  const Kernel& drawn = kernel(computed ? "down_rounded" : kernels.at(rng.below(kernels.size())));
  ir::Symbols symbols;
  for (const std::string& symbol : drawn.symbols)
    symbols[symbol] = symbol == "K" ? depths.at(rng.below(depths.size())) : sides.at(rng.below(sides.size()));
  if (computed) return down_rounded(dtype, symbols);
  ir::Program loop = ir::parse(drawn.text, symbols, drawn.name);
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::input || rng.below(2) == 0) buffer.dtype = dtype;
  return loop;
}

bool of_warpgroup(const Value& atom) { return ir::mma::find_atom(print(atom))->of_warpgroup(); }

/// Returns a random schedule that multiplies by instructions of warpgroups; nullopt if none is legal. Chunks are small,
/// so that slots are reused. `specialized`: separate threads fill the slots.
std::optional<Lowering> drawn_schedule(const ir::Program& loop, const Target& target, bool specialized, Rng& rng) {
  Lowering lowering(loop, target);
  bool products = false, others = false;
  while (const auto& fork = lowering.fork()) {
    std::vector<std::size_t> options;
    for (std::size_t i = 0; i < fork->options.size(); ++i) {
      const Value& value = fork->options[i];
      const bool atom = fork->knob == "mma.atom";
      if (atom && (print(value) == "none" || !of_warpgroup(value))) continue;
      if (fork->knob == "chunk_matmul_k.bk" && std::get<std::int64_t>(value) != 16 &&
          std::get<std::int64_t>(value) != 32)
        continue;
      if (fork->knob == "specialize_warps.apply" && (print(value) == "1") != specialized) continue;
      options.push_back(i);
    }
    if (options.empty()) return std::nullopt;
    products |= fork->knob == "mma.atom";
    others |= fork->knob == "specialize_warps.apply" && specialized;
    lowering.choose(options[rng.below(options.size())]);
  }
  return products && others == specialized ? std::optional(std::move(lowering)) : std::nullopt;
}

/// Draws a random product and its schedule. Every second seed has a target with one unit, on which blocks are
/// persistent.
Drawn drawn_for(Target target, bool specialized, std::uint64_t seed) {
  Rng rng(seed);
  target.units = seed % 2 == 0 ? 132 : 1;
  ir::Program loop = drawn_loop(rng);
  auto lowering = drawn_schedule(loop, target, specialized, rng);
  return {std::move(loop), std::move(lowering)};
}

class Warpgroups : public ::testing::TestWithParam<bool> {};

TEST_P(Warpgroups, OfRandomSchedulesAreRight) {
  const Target target = load_target("sm_90");
  int computed = 0, loaded = 0;
  const auto draw = [&](std::uint64_t seed) { return drawn_for(target, GetParam(), seed); };
  for_each_schedule(24, draw, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    ASSERT_EQ(ir::verify(lowering.program()), "");
    ASSERT_EQ(ir::parse(ir::print(lowering.program())), lowering.program());
    ASSERT_EQ(finding(loop, lowering.program(), seed), "") << ir::print(lowering.program());
    const ir::Program kernel = materialize(lowering.program(), target);
    ASSERT_EQ(ir::parse(ir::print(kernel)), kernel);
    for (std::uint64_t order = seed; order < seed + 3; ++order)
      ASSERT_EQ(finding(loop, kernel, order), "") << ir::print(kernel);
    const ir::KernelSource source = ir::emit(kernel, target);
    EXPECT_THAT(source.text, HasSubstr("wgmma.mma_async"));
    EXPECT_TRUE(source.architecture_specific);
    EXPECT_EQ(source.text.find("if (thread >= ") != std::string::npos, GetParam());
    (loop.name == "down_rounded" ? computed : loaded) += has_fragments(kernel) ? 1 : 0;
  });
  EXPECT_GE(computed, 2);
  EXPECT_GE(loaded, 2);
}

// If a loop remains between the fence and the end of a group, ptxas serialises the group's products.
TEST(WarpgroupForms, TheirLoopsAreUnrolledWhole) {
  ir::Program loop = matmul(512, 512, 512);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = ir::DType::bf16;
  Lowering lowering(loop, load_target("sm_90"));
  int loops = 0;
  while (const auto& fork = lowering.fork()) {
    if (fork->knob.starts_with("mark_unroll.")) {
      EXPECT_EQ(fork->options, std::vector<Value>{Value{std::int64_t{0}}});
      ++loops;
    }
    lowering.choose(0);
  }
  EXPECT_GE(loops, 1);
}

// Threads that copy give registers to the threads that multiply, if these need more than the launch allots: for sums,
// and for operands in registers.
TEST(WarpgroupForms, RegistersMoveWhereTheyAreNeeded) {
  const Target target = load_target("sm_90");
  int moved = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Drawn drawn = drawn_for(target, true, seed);
    if (!drawn.lowering) continue;
    const ir::Program kernel = materialize(drawn.lowering->program(), target);
    std::int64_t threads = ir::count_of(kernel.body, ir::Bind::thread), resident = 1, values = 0, own = 0;
    std::size_t operands = 0;
    ir::for_each(kernel.body, [&](const ir::Stmt& stmt) {
      if (const auto* tile = stmt.as<ir::Tile>()) resident = std::max<std::int64_t>(tile->resident, 1);
      if (const auto* produce = stmt.as<ir::Produce>()) threads += produce->threads, own = produce->own;
      if (const auto* fence = stmt.as<ir::WgmmaFence>()) operands = std::max(operands, fence->fragments.size());
    });
    values = thread_values(tile_of(drawn.lowering->program())) + 4 * static_cast<std::int64_t>(operands);
    const bool needed = values + other_registers_of_warpgroups > thread_registers(threads, target, resident);
    EXPECT_TRUE(needed || own == 0) << ir::print(kernel);
    ++(own > 0 ? moved : kept);
  }
  EXPECT_GE(kept, 5);
  std::printf("%d of %d move registers\n", moved, moved + kept);
}

INSTANTIATE_TEST_SUITE_P(AllThreadsCopyOrSomeOnly, Warpgroups, ::testing::Values(false, true));

template <class S>
ir::Program without(ir::Program kernel) {
  edit_bodies(kernel.body, [](ir::Body& body) {
    std::erase_if(body, [](const ir::Stmt& stmt) { return stmt.as<S>() != nullptr; });
  });
  return kernel;
}

// Plants a fault: removes the block's waits for slabs, or the producer's waits for free slots.
ir::Program without_waits(ir::Program kernel, bool of_producer) {
  const auto drop = [](ir::Body& body) {
    std::erase_if(body, [](const ir::Stmt& stmt) { return stmt.as<ir::MbarrierWait>() != nullptr; });
  };
  edit_bodies(kernel.body, [&](ir::Body& body) {
    for (ir::Stmt& stmt : body) {
      auto* produce = stmt.as<ir::Produce>();
      if (produce != nullptr && of_producer) edit_bodies(produce->body, drop);
      if (auto* loop = stmt.as<ir::Loop>(); loop != nullptr && !of_producer) drop(loop->body);
    }
  });
  return kernel;
}

// Plants a fault: a slot is released before the products that read it are done.
ir::Program released_early(ir::Program kernel) {
  edit_bodies(kernel.body, [](ir::Body& body) {
    for (auto wait = body.begin(); wait != body.end(); ++wait) {
      if (wait->as<ir::WgmmaWait>() == nullptr) continue;
      const auto is_fence = [](const ir::Stmt& stmt) { return stmt.as<ir::ProxyFence>() != nullptr; };
      const auto release = std::find_if_not(wait + 1, body.end(), is_fence);
      if (release != body.end() && release->as<ir::If>() != nullptr) std::rotate(wait, release, release + 1);
    }
  });
  return kernel;
}

// Returns the first finding in eight orders of producer and block; "" if there is none.
std::string finding_in_any_order(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed) {
  for (std::uint64_t order = seed; order < seed + 8; ++order)
    if (std::string found = finding(loop, kernel, order); !found.empty()) return found;
  return "";
}

struct Fault {
  const char* name;
  ir::Program (*plant)(const ir::Program&);
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"a missing fence", [](const ir::Program& k) { return without<ir::WgmmaFence>(k); }},
      {"a wait one group short",
       [](const ir::Program& k) { return edited<ir::WgmmaWait>(k, [](ir::WgmmaWait& w) { ++w.keep; }); }},
      {"no wait", [](const ir::Program& k) { return without<ir::WgmmaWait>(k); }},
      {"a descriptor with another swizzle",
       [](const ir::Program& k) {
         return edited<ir::Wgmma>(k, [](ir::Wgmma& w) { w.b.swizzle = w.b.swizzle == 32 ? 64 : w.b.swizzle / 2; });
       }},
      {"an operand that is read transposed",
       [](const ir::Program& k) {
         return edited<ir::Wgmma>(k, [](ir::Wgmma& w) {
           auto* a = std::get_if<ir::SharedMatrix>(&w.a);
           ir::SharedMatrix& matrix = a != nullptr ? *a : w.b;
           matrix.transposed = !matrix.transposed;
           matrix.leading = 16;
         });
       }},
      {"sums of other rows",
       [](const ir::Program& k) {
         return edited<ir::Wgmma>(k, [](ir::Wgmma& w) { std::swap(w.sums.front(), w.sums.back()); });
       }},
      {"no wait for a slab", [](const ir::Program& k) { return without_waits(k, false); }},
      {"an arrival too few",
       [](const ir::Program& k) {
         return edited<ir::MbarrierInit>(k, [](ir::MbarrierInit& m) { m.count += m.count > 1 ? 1 : 0; });
       }},
      {"an arrival too many",
       [](const ir::Program& k) {
         return edited<ir::MbarrierInit>(k, [](ir::MbarrierInit& m) { m.count -= m.count > 1 ? 1 : 0; });
       }},
      {"no wait for a free slot", [](const ir::Program& k) { return without_waits(k, true); }},
      {"a slot that is free too early", [](const ir::Program& k) { return released_early(k); }},
  };
  return all;
}

// Returns whether the loop over slabs has more iterations than there are slots. Otherwise no slot is filled again.
bool fills_slots_again(const ir::Program& kernel) {
  bool again = false;
  ir::for_each(kernel.body, [&](const ir::Stmt& stmt) {
    const auto* produce = stmt.as<ir::Produce>();
    if (produce == nullptr) return;
    std::int64_t slots = 0;
    ir::for_each(kernel.body, [&](const ir::Stmt& other) {
      if (const auto* init = other.as<ir::MbarrierInit>()) slots = init->slots;
    });
    ir::for_each(produce->body, [&](const ir::Stmt& inside) {
      const auto* loop = inside.as<ir::Loop>();
      again |= loop != nullptr && loop->axis.extent > slots;
    });
  });
  return again;
}

TEST(WarpgroupFaults, ShowInEverySchedule) {
  const Target target = load_target("sm_90");
  int of_registers = 0;
  const auto draw = [&](std::uint64_t seed) {
    Drawn drawn = drawn_for(target, true, seed);
    if (drawn.lowering && !fills_slots_again(materialize(drawn.lowering->program(), target))) drawn.lowering.reset();
    return drawn;
  };
  for_each_schedule(12, draw, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    const ir::Program kernel = materialize(lowering.program(), target);
    ASSERT_EQ(finding(loop, kernel, seed), "");
    if (has_fragments(kernel)) {
      ++of_registers;
      EXPECT_NE(finding(loop, with_fragments_reversed(kernel), seed), "") << "elements of a fragment in other places";
    }
    for (const Fault& fault : faults())
      EXPECT_NE(finding_in_any_order(loop, fault.plant(kernel), seed), "") << fault.name << "\n"
                                                                           << ir::print(fault.plant(kernel));
  });
  EXPECT_GE(of_registers, 2);
}

// The verifier rejects sums, matrices and thread counts that no instruction supports, and more than one producer.
TEST(WarpgroupForms, AreChecked) {
  const auto verified = [](const std::string& body, int threads = 128) {
    return ir::verify(
        ir::parse(fmt::format("=== kernel: k ===\ninput x: bf16[64, 64]\noutput y: f32[64]\n"
                              "TmaDescriptor x_desc(x, box=(64, 64)) swizzle=128\n"
                              "Tile(axes=(a0:1=BLOCK, a1:{}=THREAD)):\n  Smem s[2, 64, 64] (bf16) align=1024\n"
                              "  Smem t[64, 32] (f32)\n  MbarrierInit full[2] (count=1)\n"
                              "  MbarrierInit empty[2] (count=4)\n  Sync\n"
                              "  Init(acc0:f32x2, op=add)\n  Init(acc1:f32x2, op=add)\n{}",
                              threads, body)));
  };
  const auto wgmma = [&](const std::string& a, const std::string& b, const std::string& atom = "m64n8k16") {
    return verified(fmt::format("  Wgmma(acc0, acc1 <- {}, {}, atom={})\n", a, b, atom));
  };
  const std::string a = "s[0, 0, 0] swizzle=128", b = "s[1, 0, 16] transposed swizzle=128";
  EXPECT_EQ(wgmma(a, b), "");
  EXPECT_THAT(wgmma(a, b, "m16n8k16"), HasSubstr("not a matrix instruction of a warpgroup"));
  EXPECT_THAT(wgmma(a, b, "m64n16k16"), HasSubstr("4 vectors or 8 scalars, found 2"));
  EXPECT_THAT(wgmma(a, "t[0, 0] swizzle=128"), HasSubstr("`t` holds f32"));
  EXPECT_THAT(wgmma("s[0, 0, 0] swizzle=96", b), HasSubstr("a swizzle of 96"));
  EXPECT_THAT(wgmma("s[0, 0, 0] swizzle=64", b), HasSubstr("rows of 64 elements do not match a swizzle of 64 bytes"));
  EXPECT_THAT(wgmma("s[1, 1, 0] swizzle=128", b), HasSubstr("reaches beyond the end of `s`"));
  EXPECT_THAT(wgmma(a, "s[0, 0, 0] transposed swizzle=128 leading=24"), HasSubstr("leading=24"));
  EXPECT_THAT(wgmma("s[2, 0, 0] swizzle=128", b), HasSubstr("2"));
  EXPECT_THAT(verified("  WgmmaFence(acc0, acc0)\n"), HasSubstr("named twice"));
  EXPECT_THAT(verified("  WgmmaCommit\n", 96), HasSubstr("96 threads are not a multiple of a warpgroup"));
  EXPECT_THAT(verified("  if (a1 < 8):\n    WgmmaWait(keep=0, acc0)\n"), HasSubstr("may not reach"));

  const std::string load =
      "MbarrierArriveExpectTx(full[0], bytes=8192)\n    TmaLoad(s[0, 0, 0], x_desc[0, 0], full[0])\n";
  EXPECT_EQ(verified("  Produce(threads=128, own=24, others=240):\n    " + load), "");
  EXPECT_THAT(verified("  Produce(threads=33):\n    " + load),
              HasSubstr("33 threads are not a multiple of the warp size"));
  EXPECT_THAT(verified("  Produce(threads=128, own=20, others=240):\n    " + load), HasSubstr("multiples of 8"));
  EXPECT_THAT(verified("  Produce(threads=32, own=24, others=240):\n    " + load), HasSubstr("whole warpgroups"));
  EXPECT_THAT(verified("  Produce(threads=32):\n    Sync\n"),
              HasSubstr("it may hold only loops, conditions, waits and copies by TMA"));
  EXPECT_THAT(verified("  Produce(threads=32):\n    MbarrierWait(empty[(a1 % 2)], phase=1)\n"),
              HasSubstr("`a1` is an axis of the threads that do not execute it"));
  EXPECT_THAT(verified("  Produce(threads=32):\n    " + load + "  Produce(threads=32):\n    " + load),
              HasSubstr("one Produce"));
  EXPECT_THAT(verified("  for a2 in 0..2: # free\n    Produce(threads=32):\n      MbarrierWait(empty[0], phase=1)\n"),
              HasSubstr("directly in the Tile"));
  EXPECT_THAT(verified("  MbarrierArrive(none[0])\n"), HasSubstr("not a barrier"));
}

// Without a proxy fence, reads through descriptors do not see what the threads of a block have stored.
TEST(WarpgroupFaults, AStoreIntoAnOperandIsARace) {
  const ir::Program kernel = ir::parse(
      "=== kernel: k ===\ninput x: bf16[64, 16]\noutput y: f32[64, 8]\n"
      "Tile(axes=(a0:1=BLOCK, a1:4=THREAD, a2:8=THREAD, a3:4=THREAD)):\n"
      "  Smem a[64, 16] (bf16) align=256\n"
      "  for a4 in 0..8: # free\n"
      "    in0:bf16 = load x[((a1 * 16) + (a2 * 2)) + (a3 / 2), (((a3 % 2) * 8) + a4)]\n"
      "    a[((a1 * 16) + (a2 * 2)) + (a3 / 2), (((a3 % 2) * 8) + a4)] = in0\n"
      "  Sync\n"
      "  Init(acc0:f32x2, op=add)\n  Init(acc1:f32x2, op=add)\n"
      "  WgmmaFence(acc0, acc1)\n"
      "  Wgmma(acc0, acc1 <- a[0, 0] swizzle=32, a[0, 0] swizzle=32, atom=m64n8k16)\n"
      "  WgmmaCommit\n  WgmmaWait(keep=0, acc0, acc1)\n"
      "  y[((a1 * 16) + a2), (a3 * 2)]:x2 = acc0\n  y[(((a1 * 16) + a2) + 8), (a3 * 2)]:x2 = acc1\n");
  ASSERT_EQ(ir::verify(kernel), "");
  EXPECT_THAT(finding(kernel, kernel, 1), HasSubstr("no proxy fence"));
}

}  // namespace
}  // namespace deplo::rules::wgmma_test
