// Fingerprints compared with the bits that PoCL computes: schedules with equal fingerprints give equal bits.
#include "ir/interpret/fingerprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "ir/emit/emit.h"
#include "measure/opencl/opencl.h"
#include "measure/protocol/problem.h"
#include "rules/lower.h"

namespace deplo::measure::fingerprint_test {
namespace {

struct Drawn {
  std::string trail;
  ir::Fingerprint fingerprint, rows;
  std::vector<std::uint8_t> bytes;  // bytes of the output
};

ir::Program load(const char* name, const ir::Symbols& symbols, ir::DType dtype) {
  std::ifstream in(fmt::format("{}/configs/kernels/{}.loop", DEPLO_SOURCE_DIR, name), std::ios::binary);
  ir::Program loop = ir::parse(std::string(std::istreambuf_iterator<char>(in), {}), symbols, name);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
  return loop;
}

/// Draws a schedule from the seed and runs it on the device.
Drawn draw(const ir::Program& loop, Device& device, std::uint64_t seed) {
  const Target target = target_of(device.info());
  rules::Lowering lowering(loop, target);
  Rng rng(seed);
  while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
  KernelCode code{rules::materialize(lowering.program(), target), {}};
  code.source = ir::emit(code.kernel, target);
  Problem problem(loop, device, 1);
  problem.poison_outputs();
  auto built = device.build(code);
  if (!built.ok()) throw Error(built.failure().message);
  if (const auto time = built.value()->launch(problem.arrays(), code.source.blocks); !time.ok())
    throw Error(time.failure().message);
  Drawn drawn{print(lowering.trail()), fingerprint(loop, code.kernel, {}), row_fingerprint(loop, code.kernel, {}), {}};
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (loop.buffers[i].role == ir::Role::output) drawn.bytes = problem.arrays().read_bytes(i);
  return drawn;
}

struct Pairs {
  int equal = 0, other = 0, other_bits = 0;
};

Pairs compare(const ir::Program& loop, Device& device, int schedules) {
  std::vector<Drawn> all;
  for (const std::uint64_t seed : drawn_seeds(static_cast<std::uint64_t>(schedules)))
    all.push_back(draw(loop, device, seed));
  Pairs pairs;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!all[i].fingerprint.is_known() || !all[j].fingerprint.is_known()) continue;
      const bool same_bits = all[i].bytes == all[j].bytes;
      if (all[i].fingerprint == all[j].fingerprint) {
        ++pairs.equal;
        EXPECT_TRUE(same_bits) << loop.name << "\n" << all[i].trail << "\n" << all[j].trail;
      } else {
        ++pairs.other;
        pairs.other_bits += same_bits ? 0 : 1;
      }
    }
  return pairs;
}

// Compares at least 500 pairs of schedules. Sums of rounded products in different orders are rarely equal in all
// elements, so most pairs with different fingerprints differ in their bits.
TEST(Fingerprints, TellTheBitsOfSchedules) {
  const auto device = open_device("opencl");
  struct Case {
    const char* kernel;
    ir::Symbols symbols;
    ir::DType dtype = ir::DType::f32;
  };
  const Case cases[] = {{"matmul", {{"M", 20}, {"N", 24}, {"K", 100}}},
                        {"matmul", {{"M", 16}, {"N", 32}, {"K", 64}}, ir::DType::f16},
                        {"softmax", {{"M", 6}, {"N", 130}}},
                        {"rmsnorm", {{"M", 6}, {"D", 128}}},
                        {"attention", {{"H", 1}, {"Q", 8}, {"K", 40}, {"D", 16}}}};
  Pairs sum;
  for (const Case& c : cases) {
    const Pairs pairs = compare(load(c.kernel, c.symbols, c.dtype), *device, 15);
    std::printf("%s %s: %d pairs of one fingerprint; %d of two, %d of them with other bits\n", c.kernel,
                std::string(name(c.dtype)).c_str(), pairs.equal, pairs.other, pairs.other_bits);
    sum.equal += pairs.equal;
    sum.other += pairs.other;
    sum.other_bits += pairs.other_bits;
  }
  EXPECT_GE(sum.equal + sum.other, 500);
  EXPECT_GE(sum.equal, 50);
  EXPECT_GE(sum.other_bits, sum.other / 2) << "fingerprints differ where bits do not";
}

ir::Fingerprint rows_of(const ir::Program& loop, const Target& target, std::uint64_t seed) {
  rules::Lowering lowering(loop, target);
  Rng rng(seed);
  while (lowering.fork()) lowering.choose(seed == 0 ? 0 : rng.below(lowering.fork()->options.size()));
  return row_fingerprint(loop, rules::materialize(lowering.program(), target), {});
}

// Schedules for different numbers of rows may add in the same order. They then have the same row fingerprint.
TEST(RowFingerprint, IsThatOfAnyNumberOfRows) {
  for (const char* name : {"sm_90", "opencl-cpu-avx2"}) {
    const Target target = load_target(name);
    const auto matmul = [](std::int64_t rows) {
      return load("matmul", {{"M", rows}, {"N", 16}, {"K", 200}}, ir::DType::f32);
    };
    std::map<std::string, std::set<std::int64_t>> sizes;  // the numbers of rows with each fingerprint
    for (const std::int64_t rows : {1, 7, 16, 40})
      for (std::uint64_t seed = 0; seed < 60; ++seed)
        if (const ir::Fingerprint found = rows_of(matmul(rows), target, seed); found.is_known())
          sizes[print(found)].insert(rows);
    EXPECT_GT(sizes.size(), 2U) << name << ": orders differ";
    EXPECT_TRUE(std::ranges::any_of(sizes, [](const auto& one) { return one.second.size() == 4; })) << name;
  }
}

// The inputs of a problem with more rows begin with the inputs of one with fewer rows, so row 0 is the same in all.
TEST(RowFingerprint, RowsOfOneFingerprintHaveTheSameBits) {
  if (opencl_devices().empty()) GTEST_SKIP() << "no OpenCL";
  const auto device = open_device("opencl");
  constexpr std::int64_t columns = 16;
  std::vector<Drawn> all;
  for (const std::int64_t rows : {1, 5, 16}) {
    const ir::Program loop = load("matmul", {{"M", rows}, {"N", columns}, {"K", 200}}, ir::DType::f32);
    for (const std::uint64_t seed : drawn_seeds(8)) {
      Drawn drawn = draw(loop, *device, seed);
      drawn.bytes.resize(columns * sizeof(float));
      all.push_back(std::move(drawn));
    }
  }
  int equal = 0, others = 0;
  for (const Drawn& a : all) {
    for (const Drawn& b : all) {
      if (&a == &b || !a.rows.is_known()) continue;
      if (a.rows == b.rows) {
        EXPECT_EQ(a.bytes, b.bytes) << a.trail << "\n" << b.trail;
      }
      ++(a.rows == b.rows ? equal : others);
    }
  }
  EXPECT_GT(equal, 20);
  EXPECT_GT(others, 20);
}

// Two schedules with the same fingerprint have the same row fingerprint. The converse holds only for equal sizes,
// because only the fingerprint depends on the sizes.
TEST(RowFingerprint, DistinguishesOrders) {
  const Target target = load_target("sm_90");
  const ir::Program loop = load("matmul", {{"M", 16}, {"N", 16}, {"K", 256}}, ir::DType::bf16);
  std::map<std::string, std::string> rows;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    rules::Lowering lowering(loop, target);
    Rng rng(seed);
    while (lowering.fork()) lowering.choose(rng.below(lowering.fork()->options.size()));
    const ir::Program kernel = rules::materialize(lowering.program(), target);
    const ir::Fingerprint whole = fingerprint(loop, kernel, {}), row = row_fingerprint(loop, kernel, {});
    EXPECT_EQ(whole.is_known(), row.is_known()) << whole.unknown << row.unknown;
    if (!whole.is_known()) continue;
    EXPECT_EQ(rows.emplace(print(whole), print(row)).first->second, print(row));
  }
  EXPECT_GT(rows.size(), 2U);
  std::set<std::string> distinct;
  for (const auto& [whole, row] : rows) distinct.insert(row);
  EXPECT_EQ(distinct.size(), rows.size());
}

TEST(RowFingerprint, NeedsRowsThatAreAlike) {
  const Target target = load_target("opencl-cpu-avx2");
  const auto unknown = [&](const char* name, const ir::Symbols& symbols) {
    return rows_of(load(name, symbols, ir::DType::f32), target, 0).unknown;
  };
  EXPECT_EQ(unknown("softmax", {{"M", 8}, {"N", 50}}), "");
  const ir::Program triangle = ir::parse(R"(=== loop: triangle ===
input x: f32[8, 8]
output y: f32[8, 8]
for a0 in 0..8: # free
  for a1 in 0..8: # free
    in0 = load x[a0, a1]
    v0:bool = index (a1 < (a0 + 1))
    v1 = select(v0, in0, 0)
    y[a0, a1] = v1
)",
                                         {}, "test");
  EXPECT_EQ(rows_of(triangle, target, 0).unknown, "it computes row 1 of y in another way than row 0");
}

}  // namespace
}  // namespace deplo::measure::fingerprint_test
