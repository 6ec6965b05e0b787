// Tests matrix instructions in complete schedules, with random layouts of the operands and random later choices, and
// that faults in fragments are detected.
#include "ir/hardware/mma.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "ir/canonical/canonical.h"
#include "ir/emit/emit.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/drawn_schedules.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules::mma_test {
namespace {

using ::testing::HasSubstr;

ir::Program drawn_loop(Rng& rng) {
  constexpr std::array kernels = {"matmul",     "linear",      "matmul_transposed_b",
                                  "matmul_add", "linear_bias", "matmul_silu"};
  constexpr std::array<std::int64_t, 5> extents = {16, 32, 48, 64, 96};
  const ir::DType dtype = std::array{ir::DType::f16, ir::DType::bf16, ir::DType::f32}.at(rng.below(3));
  const auto extent = [&] { return extents[rng.below(extents.size())]; };
  if (rng.below(4) == 0) return down_rounded(dtype, {{"M", extent()}, {"N", extent()}, {"K", extent()}});
  const Kernel& drawn = kernel(kernels[rng.below(kernels.size())]);
  ir::Symbols symbols;
  for (const std::string& symbol : drawn.symbols) symbols[symbol] = extent();
  ir::Program loop = ir::parse(drawn.text, symbols, drawn.name);
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::input || rng.below(2) == 0) buffer.dtype = dtype;
  loop.allow_tf32 = dtype == ir::DType::f32;
  return loop;
}

/// Returns a random schedule that multiplies by any matrix instruction of warps; nullopt if none is legal.
std::optional<Lowering> drawn_schedule(const ir::Program& loop, const Target& target, Rng& rng) {
  Lowering lowering(loop, target);
  bool products = false;
  while (const auto& fork = lowering.fork()) {
    const bool atom = fork->knob == "mma.atom";
    products |= atom;
    // Instructions of warpgroups are tested in wgmma_test.cpp.
    const auto of_group = [](const Value& value) {
      const ir::mma::Atom* found = ir::mma::find_atom(print(value));
      return found != nullptr && found->of_warpgroup();
    };
    const auto groups = static_cast<std::size_t>(atom ? std::ranges::count_if(fork->options, of_group) : 0);
    lowering.choose(groups + rng.below(fork->options.size() - groups - (atom ? 1 : 0)));
  }
  return products ? std::optional(std::move(lowering)) : std::nullopt;
}

/// Returns the names of the buffers whose elements are multiplied.
std::set<std::string> factors(const ir::Program& loop) {
  std::set<std::string> buffers;
  const std::vector<std::string> products = ir::mma::find_products(loop, ir::mma::Operands::tf32);
  std::map<std::string, std::string> loads;
  ir::for_each(loop.body, [&](const ir::Stmt& stmt) {
    if (const auto* load = stmt.as<ir::Load>()) loads[load->dst] = load->buffer;
    const auto* product = stmt.as<ir::Assign>();
    if (product != nullptr && std::ranges::count(products, product->dst) > 0)
      for (const ir::Arg& arg : product->args) buffers.insert(loads.at(std::get<std::string>(arg)));
  });
  return buffers;
}

/// Runs the program and returns its outputs. The inputs are cleared, because they differ between the runs that are
/// compared.
ir::Memory results(const ir::Program& program, const ir::Memory& memory) {
  ir::Memory all = result(program, memory);
  for (const ir::Buffer& buffer : program.buffers)
    if (buffer.role == ir::Role::input) all.at(buffer.name).clear();
  return all;
}

class Products : public ::testing::TestWithParam<const char*> {};

std::string atom_of(const Lowering& lowering) {
  for (const Choice& choice : lowering.trail())
    if (choice.knob == "mma.atom") return std::get<std::string>(choice.value);
  return "";
}

/// Returns a function that draws a random product and its schedule from a seed.
auto drawn_for(const Target& target) {
  return [&target](std::uint64_t seed) {
    Rng rng(seed);
    ir::Program loop = drawn_loop(rng);
    auto lowering = drawn_schedule(loop, target, rng);
    return Drawn{std::move(loop), std::move(lowering)};
  };
}

TEST_P(Products, OfRandomSchedulesAreRight) {
  const Target target = load_target(GetParam());
  int computed = 0;
  std::map<std::string, int> atoms, registers;
  for_each_schedule(40, drawn_for(target), [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    ASSERT_EQ(ir::verify(lowering.program()), "");
    ASSERT_EQ(ir::parse(ir::print(lowering.program())), lowering.program());
    ASSERT_EQ(finding(loop, lowering.program(), seed), "") << ir::print(lowering.program());
    const ir::Program kernel = materialize(lowering.program(), target);
    ASSERT_EQ(ir::parse(ir::print(kernel)), kernel);
    ASSERT_EQ(finding(loop, kernel, seed), "") << ir::print(kernel);
    const ir::mma::Atom& atom = *ir::mma::find_atom(atom_of(lowering));
    EXPECT_THAT(ir::emit(kernel, target).text, HasSubstr(fmt::format("mma.sync.aligned.m16n8k{}.row.col.f32.{}", atom.k,
                                                                     loop.allow_tf32 ? "tf32" : "")));
    ++atoms[atom_of(lowering)];
    computed += loop.name == "down_rounded" ? 1 : 0;
    for (const Choice& choice : lowering.trail())
      if (print(choice.value) == "registers") ++registers[choice.knob];
    const bool made = loop.name == "down_rounded" || print(lowering.trail()).find("=registers") != std::string::npos;
    EXPECT_TRUE(has_fragments(kernel) || !made);
  });
  EXPECT_GE(computed, 3);
  EXPECT_GE(registers["mma.a"], 3);
  EXPECT_GE(registers["mma.b"], 3);
  for (const ir::mma::Atom& atom : ir::mma::atoms())
    EXPECT_GE(atoms[atom.name], atom.of_warpgroup() ? 0 : 3) << atom.name;
}

// Products of f32 equal what the loop computes if the factors are first rounded to tf32.
TEST_P(Products, OfF32AreOfRoundedFactors) {
  const Target target = load_target(GetParam());
  const auto draw = [&](std::uint64_t seed) {
    Drawn drawn = drawn_for(target)(seed);
    const bool loads = drawn.loop.allow_tf32 && drawn.loop.name != "down_rounded";  // whether the factors are inputs
    if (!loads) drawn.lowering.reset();
    return drawn;
  };
  for_each_schedule(10, draw, [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    ir::Program strict = loop;
    strict.allow_tf32 = false;  // inputs are not rounded to tf32
    const ir::Memory memory = random_memory(strict, seed);
    ir::Memory rounded = memory;
    for (const std::string& factor : factors(loop))
      for (double& value : rounded.at(factor)) value = ir::rounded_tf32(value);
    const ir::Program kernel = materialize(lowering.program(), target);
    EXPECT_EQ(difference(loop, results(loop, rounded), results(kernel, memory)), "");
    EXPECT_NE(difference(loop, results(loop, memory), results(kernel, memory)), "") << "nothing was rounded";
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, Products, ::testing::Values("sm_80", "sm_90", "sm_100", "sm_120"));

// Each fault is detected in every schedule that has the statements that it changes.
TEST(ProductFaults, ShowInEverySchedule) {
  const Target target = load_target("sm_80");
  for_each_schedule(20, drawn_for(target), [&](const ir::Program& loop, const Lowering& lowering, std::uint64_t seed) {
    const ir::Program kernel = materialize(lowering.program(), target);
    ASSERT_EQ(finding(loop, kernel, seed), "");
    bool matrices = false, apart = false, rounds = false;
    const ir::Program transposed =
        edited<ir::LdMatrix>(kernel, [&](ir::LdMatrix& s) { matrices = true, s.transposed = !s.transposed; });
    EXPECT_TRUE(!matrices || !finding(loop, transposed, seed).empty()) << "a transposed fragment";
    const ir::Program turned = edited<ir::Load>(kernel, [&](ir::Load& s) {
      if (!ir::reads_apart(s)) return;
      apart = true;
      for (ir::Expr& e : s.index)
        e = ir::substitute(e, {{ir::lane_variable, (ir::var(ir::lane_variable) + 1) % s.type.lanes}});
    });
    EXPECT_TRUE(!apart || !finding(loop, turned, seed).empty()) << "elements of other lanes";
    const ir::Program exact = edited<ir::Assign>(kernel, [&](ir::Assign& s) {
      if (s.op == ir::Op::round_tf32) rounds = true, s.op = ir::Op::copy;
    });
    ir::Program strict = loop;
    strict.allow_tf32 = false;  // inputs are not rounded to tf32
    EXPECT_TRUE(rounds == loop.allow_tf32 && (!rounds || !finding(strict, exact, seed).empty()))
        << "factors that are not rounded";
    EXPECT_TRUE(!has_fragments(kernel) || !finding(loop, with_fragments_reversed(kernel), seed).empty())
        << "elements of a fragment in other places";
    EXPECT_NE(
        finding(loop, edited<ir::Mma>(kernel, [](ir::Mma& s) { std::swap(s.sums.front(), s.sums.back()); }), seed), "")
        << "sums of other rows";
    bool parts = false;
    const ir::Program other = edited<ir::Mma>(kernel, [&](ir::Mma& s) { parts |= s.part > 0, s.part = 0; });
    EXPECT_TRUE(!parts || !finding(loop, other, seed).empty()) << "columns of a neighbour";
  });
}

// The verifier rejects accesses beyond an operand's row, incomplete warps, and fragments of a wrong size.
TEST(ProductForms, AreChecked) {
  const auto verified = [](const std::string& body, int threads = 32) {
    return ir::verify(
        ir::parse(fmt::format("=== kernel: k ===\noutput y: f32[64]\nTile(axes=(a0:1=BLOCK, a1:{}=THREAD)):\n"
                              "  Smem s[16, 16] (bf16)\n  Init(acc0:f32x2, op=add)\n"
                              "  Init(acc1:f32x2, op=add)\n{}",
                              threads, body)));
  };
  const std::string fragments =
      "  LdMatrix(in0:bf16x8 <- s[(a1 % 16), ((a1 / 16) * 8)])\n"
      "  LdMatrix(in1:bf16x4 <- s[(a1 % 8), (((a1 / 8) % 2) * 8)], transposed)\n";
  EXPECT_EQ(verified(fragments + "  Mma(acc0, acc1 <- in0, in1, part=0, atom=m16n8k16)\n"), "");
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc1 <- in0, in1, part=2, atom=m16n8k16)\n"),
              HasSubstr("`in1` has fewer than 4 matrices of bf16"));
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc1 <- in1, in0, part=0, atom=m16n8k16)\n"),
              HasSubstr("`in1` is not 4 matrices of f16 or bf16"));
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc0 <- in0, in1, part=0, atom=m16n8k16)\n"), HasSubstr("named twice"));
  EXPECT_THAT(verified(fragments + "  Mma(acc0, acc1 <- in0, in1, part=0, atom=m16n8k9)\n"),
              HasSubstr("`m16n8k9` is not a matrix instruction"));
  EXPECT_THAT(verified("  LdMatrix(in0:bf16x8 <- s[(a1 % 16), (a1 / 16)])\n", 48),
              HasSubstr("48 threads are not a multiple of the warp size"));
  EXPECT_THAT(verified("  LdMatrix(in0:bf16x8 <- s[(a1 % 16), 9])\n"), HasSubstr("9"));
  EXPECT_THAT(verified("  LdMatrix(in0:f16x8 <- s[(a1 % 16), 0])\n"), HasSubstr("`s` holds bf16"));
  EXPECT_THAT(verified("  LdMatrix(in0:bf16x16 <- s[(a1 % 16), 0])\n"), HasSubstr("1, 2 or 4 matrices"));
  EXPECT_THAT(verified("  if (a1 < 8):\n    LdMatrix(in0:bf16x8 <- s[(a1 % 16), 0])\n"), HasSubstr("may not reach"));
}

TEST(ProductForms, OfTf32AreChecked) {
  const auto verified = [](const std::string& body) {
    return ir::verify(ir::parse(
        "=== kernel: k ===\nallow tf32\noutput y: f32[64]\nTile(axes=(a0:1=BLOCK, a1:8=THREAD, a2:4=THREAD)):\n"
        "  Smem s[16, 8] (f32)\n  Init(acc0:f32x2, op=add)\n  Init(acc1:f32x2, op=add)\n" +
        body));
  };
  const std::string a = "  LdMatrix(in0:f32x4 <- s[(((a1 % 2) * 4) + a2), ((a1 / 4) * 4)])\n",
                    b = "  in1:f32x2 = load s[((lane * 4) + a2), a1]\n",
                    mma = "  Mma(acc0, acc1 <- in0, in1, part=0, atom=m16n8k8_tf32)\n";
  EXPECT_EQ(verified(a + b + mma), "");
  EXPECT_THAT(verified("  LdMatrix(in0:f32x4 <- s[0, 0], transposed)\n"), HasSubstr("only 16-bit matrices"));
  EXPECT_THAT(verified(b + "  Mma(acc0, acc1 <- in1, in1, part=0, atom=m16n8k8_tf32)\n"),
              HasSubstr("`in1` is not 4 matrices of f32"));
  EXPECT_THAT(verified(a + "  Mma(acc0, acc1 <- in0, in0, part=0, atom=m16n8k16)\n"),
              HasSubstr("`in0` is not 4 matrices of f16 or bf16"));
  EXPECT_THAT(verified("  in1:f32x4 = load s[((lane * 8) + a2), a1]\n"), HasSubstr("not proven in 0..15"));
  EXPECT_EQ(verified("  in1:f32x2 = load s[((lane * 8) + a2), a1]\n"), "");
}

// A store might hold a schedule with tf32 for a program that does not allow tf32. Such a schedule is rejected.
TEST(ProductForms, Tf32IsNeverSilent) {
  const Target target = load_target("sm_80");
  Rng rng(1);
  ir::Program loop = ir::parse(kernel("linear").text, {{"M", 64}, {"N", 64}, {"K", 64}}, "linear");
  loop.allow_tf32 = true;
  Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(0);
  EXPECT_EQ(atom_of(lowering), "m16n8k8_tf32");
  ir::Program strict = loop;
  strict.allow_tf32 = false;
  EXPECT_FALSE(follow(strict, target, lowering.trail()).ok());
  ir::Program tile = lowering.program();
  ir::Program made = materialize(tile, target);
  for (ir::Program* program : {&tile, &made}) {
    EXPECT_EQ(ir::verify(*program), "");
    program->allow_tf32 = false;
    EXPECT_THAT(ir::verify(*program), HasSubstr("m16n8k8_tf32 rounds factors to tf32, which the program does not"));
  }
  EXPECT_NE(ir::structural_keys(loop).schedule, ir::structural_keys(strict).schedule);
  EXPECT_NE(ir::structural_keys(loop).exact, ir::structural_keys(strict).exact);
}

}  // namespace
}  // namespace deplo::rules::mma_test
