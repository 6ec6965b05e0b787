// Tests random trails on random kernels with awkward extents, for all targets. Every schedule ends, passes the
// verifier, fits its target, and computes the same as Loop, Tile and Kernel IR. Kernels that random tile programs are
// raised to compute what the programs compute on their own interpreter. `test_rules --cases N --seed S --jobs J`; a
// nightly run takes 100000 cases.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/file.h"
#include "drawn_seeds.h"
#include "rules/options.h"
#include "rules/trails/tile_case.h"
#include "rules/trails/trail_case.h"

namespace deplo::rules {
namespace {

std::string report(const TrailCase& drawn, const Finding& finding) {
  const TrailCase small = shrink(drawn);
  return fmt::format("{}\n  {}\n{}\nshortest:\n  {}\n{}", describe(drawn), print(finding.trail), finding.failure,
                     describe(small), attempt(small).failure);
}

const std::vector<std::string>& targets() {
  static const std::vector<std::string> names = list_data("configs/targets", ".yaml");
  return names;
}

class Trails : public ::testing::TestWithParam<std::string> {};
class TileTrails : public Trails {};
class SharedTileTrails : public Trails {};

/// Tries random cases on the target and reports failures. `share`: the fraction of --cases that is tried.
void expect_sound(const std::string& target, Draw draw, double share = 1) {
  constexpr std::size_t max_reports = 5;
  const TestOptions& options = test_options();
  const auto cases = static_cast<std::uint64_t>(share * static_cast<double>(options.cases));
  const std::uint64_t count = (cases + targets().size() - 1) / targets().size();
  const std::uint64_t first = first_seed(options.seed);
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1));
  std::vector<std::uint64_t> seeds = failing_seeds(target, first, count, options.jobs, max_reports, draw);
  if (seeds.size() > max_reports) seeds.resize(max_reports);
  for (const std::uint64_t seed : seeds) {
    const TrailCase drawn = draw(target, seed);
    ADD_FAILURE() << report(drawn, attempt(drawn));
  }
}

TEST_P(Trails, EveryScheduleMeansTheSame) { expect_sound(GetParam(), random_case); }
TEST_P(TileTrails, EveryScheduleMeansTheSame) { expect_sound(GetParam(), random_tile_case); }
TEST_P(SharedTileTrails, EveryScheduleMeansTheSame) {
  if (shared_tile_kinds().empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  expect_sound(GetParam(), random_shared_tile_case, 0.05);  // the shared programs are eight of about forty kinds
}

std::string target_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Targets, Trails, ::testing::ValuesIn(targets()), target_name);
INSTANTIATE_TEST_SUITE_P(Targets, TileTrails, ::testing::ValuesIn(targets()), target_name);
INSTANTIATE_TEST_SUITE_P(Targets, SharedTileTrails, ::testing::ValuesIn(targets()), target_name);

// A rule that no case reaches would not be tested. Some rules apply only to CPUs. Up to 8000 cases are tried, until
// every rule has been reached.
TEST(Trails, ReachEveryRule) {
  std::set<std::string, std::less<>> reached;
  for (std::uint64_t seed = 1; seed <= 6000 && reached.size() < pipeline().size(); ++seed)
    for (const auto& [target, seeds] : {std::pair{"sm_90", 6000U}, std::pair{"opencl-cpu-bf16", 2000U}})
      if (seed <= seeds) reached.merge(applied_rules(random_case(target, seed)));
  for (const Rule* rule : pipeline()) EXPECT_TRUE(reached.contains(rule->name)) << rule->name;
}

// The heuristic's schedule is what a search tries first.
TEST(Heuristic, IsRightOnEveryKernel) {
  for (const Kernel& kernel : kernels())
    for (const char* target : {"opencl-cpu", "opencl-gpu", "sm_90"})
      for (const std::int64_t size : {1, 13, 33}) {
        TrailCase c{.kernel = kernel.name, .target = target, .symbols = {}};
        for (const std::string& symbol : kernel.symbols) c.symbols[symbol] = size;
        const ir::Program loop = ir::parse(kernel.text, c.symbols);
        if (ir::work(loop).flops > 3e6 || lane_steps(loop) > 15e6) continue;  // takes seconds to interpret
        EXPECT_EQ(attempt(c).failure, "") << describe(c);
      }
}

// The random trails above found each of these failures.
TEST(Trails, ThatOnceFailed) {
  const TrailCase cases[] = {
      // No statement walked the axis of one column, and the loop over it was empty.
      {.kernel = "conv2d_grouped",
       .target = "sm_90",
       .symbols = {{"B", 13}, {"H", 1}, {"W", 1}},
       .wanted = parse_trail("join_axes.count=2 cooperative_reduce.threads=32 cooperative_reduce.rows=8")},
      // One row has no row index, so register_tile did not recognise the matmul and left 96 threads on a target with
      // 64.
      {.kernel = "matmul_transposed_b",
       .target = "opencl-cpu",
       .symbols = {{"M", 1}, {"N", 64}, {"K", 2}},
       .wanted = parse_trail("register_tile.fm=1")},
      // The axis of a kernel without free loops had the name of its reduce loop.
      {.kernel = "total", .target = "opencl-cpu", .symbols = {{"M", 2}, {"N", 1}}},
      // Two nested free loops both walked the threads, so thread 1 wrote nothing of its row.
      {.kernel = "layernorm_images", .target = "opencl-gpu", .symbols = {{"B", 1}, {"D", 1}, {"H", 1}}},
      // A reduce loop with a start and a step was chunked as if it had none.
      {.kernel = "triangular_loop",
       .target = "opencl-gpu",
       .symbols = {{"M", 1}, {"N", 4}},
       .wanted = parse_trail("chunk_reduce.chunk=48")},
      // The zero fill of split K overwrote the gaps between the output's rows.
      {.kernel = "padded_rows_matmul", .target = "opencl-gpu", .symbols = {{"M", 2}, {"N", 1}, {"K", 13}}},
      // The sums that split K adds to memory must be scalars, but vectorize made a sum of two lanes.
      {.kernel = "matmul_scale", .target = "sm_80", .symbols = {{"M", 1}, {"N", 2}, {"K", 13}}},
      // The only slot of an asynchronous copy was filled again without a barrier after its last reads.
      {.kernel = "gate_up",
       .target = "sm_80",
       .symbols = {{"M", 1}, {"N", 1}, {"K", 13}},
       .wanted = parse_trail("stage_inputs.x=1 double_buffer.depth=1")},
      // A sum that adds the same value again and again was vectorised. Each lane had the whole sum, and one lane was
      // taken.
      {.kernel = "sum_of_sums", .target = "opencl-cpu", .symbols = {{"M", 2}, {"N", 2}}},
      // Shared memory was full to the byte, but the sanitizer counted a gap that the emitter's order does not have.
      {.kernel = "gqa_values",
       .target = "sm_120",
       .symbols = {{"M", 32}, {"N", 32}, {"D", 8}},
       .wanted = parse_trail("chunk_matmul_k.bk=8 split_matmul_k.splits=2 blockify_launch.bm=14"),
       .tight = 2},
      // Eight rows share a row of x. A block of two rows was not recognised as a matmul, and kept all its 66 threads.
      {.kernel = "shared_rows_matmul",
       .target = "opencl-cpu",
       .symbols = {{"M", 16}, {"N", 33}, {"K", 16}},
       .wanted = parse_trail("blockify_launch.bm=2"),
       .tight = 2},
      // The keys are also the values. A row of them was to be staged once for all lanes of a vector.
      {.kernel = "attention_shared",
       .target = "opencl-cpu",
       .symbols = {{"K", 64}, {"D", 16}},
       .wanted = parse_trail("online_softmax.keys=16 online_softmax.dots=1 stage_inputs.k=1")},
  };
  for (const TrailCase& c : cases) EXPECT_EQ(attempt(c).failure, "") << describe(c);
}

}  // namespace
}  // namespace deplo::rules
