// Fingerprints against the bits that PoCL computes: schedules with equal fingerprints give equal bits.
#include "ir/interpret/fingerprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/rng.h"
#include "ir/emit/emit.h"
#include "measure/check/problem.h"
#include "rules/lower.h"

namespace deplo::measure::fingerprint_test {
namespace {

struct Drawn {
  std::string trail;
  ir::Fingerprint fingerprint;
  std::vector<std::uint8_t> bytes;  // of the outputs
};

ir::Program load(const char* name, const ir::Symbols& symbols, ir::DType dtype) {
  std::ifstream in(fmt::format("{}/configs/kernels/{}.loop", DEPLO_SOURCE_DIR, name), std::ios::binary);
  ir::Program loop = ir::parse(std::string(std::istreambuf_iterator<char>(in), {}), symbols, name);
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = dtype;
  return loop;
}

/// The schedule that the seed draws, on the device.
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
  Drawn drawn{print(lowering.trail()), fingerprint(loop, code.kernel, {}), {}};
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (loop.buffers[i].role == ir::Role::output) drawn.bytes = problem.arrays().read_bytes(i);
  return drawn;
}

struct Pairs {
  int equal = 0, other = 0, other_bits = 0;
};

Pairs compare(const ir::Program& loop, Device& device, int schedules) {
  std::vector<Drawn> all;
  for (int seed = 1; seed <= schedules; ++seed) all.push_back(draw(loop, device, static_cast<std::uint64_t>(seed)));
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

// 500 pairs and more. Sums of rounded products in another order are seldom equal in all elements.
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

}  // namespace
}  // namespace deplo::measure::fingerprint_test
