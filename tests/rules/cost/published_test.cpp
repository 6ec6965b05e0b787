// Compares the analytic model with times that others have published: deplodock's fastest fp32 matmuls, with its knobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "rules/cost/roofline.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

using Wishes = std::map<std::string, std::int64_t, std::less<>>;

// Lowers the loop with the wishes. A wish names a knob, or a rule for all of its knobs. Each other knob takes the value
// that leaves the kernel unchanged (as_before), or else the heuristic's choice. Returns nullopt if a wish is not legal.
std::optional<Lowering> lower(const ir::Program& loop, const Target& target, const Wishes& wishes) {
  Lowering lowering(loop, target);
  while (lowering.fork()) {
    const Fork& fork = *lowering.fork();
    auto wish = wishes.find(fork.knob);
    if (wish == wishes.end()) wish = wishes.find(fork.knob.substr(0, fork.knob.find('.')));
    const std::optional<Value> wanted =
        wish != wishes.end() ? std::optional(Value{wish->second}) : lowering.as_before();
    const auto found = wanted ? std::ranges::find(fork.options, *wanted) : fork.options.begin();
    if (found == fork.options.end()) return std::nullopt;
    lowering.choose(static_cast<std::size_t>(found - fork.options.begin()));
  }
  return lowering;
}

struct Device {
  const char *name, *target;
  std::int64_t units;
  Ceilings ceilings;  // from the data sheet
};
// From NVIDIA's data sheets: the number of multiprocessors, GB/s of the memory (twice), fp32 GFLOP/s at the boost
// clock.
const Device devices[] = {{"NVIDIA H200", "sm_90", 132, {4800, 4800, 66'900}},
                          {"NVIDIA GeForce RTX 5090", "sm_120", 170, {1792, 1792, 104'800}},
                          {"NVIDIA GeForce RTX 4090", "sm_89", 128, {1008, 1008, 82'600}}};
const Device* find_device(const std::string& name) {
  const auto found = std::ranges::find(devices, name, &Device::name);
  return found == std::end(devices) ? nullptr : found;
}

double predicted(const Lowering& lowering, const Device& device) {
  return roofline_us(features(lowering.program(), lowering.target()), lowering.target(), device.ceilings);
}
Target target_of(const Device& device) {
  Target target = load_target(device.target);
  target.units = device.units;
  return target;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double v) { return v < value; });
    const auto same = std::ranges::count(values, value);
    result.push_back(static_cast<double>(below) + static_cast<double>(same - 1) / 2);
  }
  return result;
}
double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double both = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    both += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return both / std::sqrt(xx * yy);
}

// fp32 TFLOP/s on an H200, published by deplodock's authors: their hand-written kernel, which copies by TMA, and
// cuBLAS.
struct Square {
  std::int64_t n;
  double kernel, cublas;
};
constexpr Square squares[] = {{1024, 33.4, 32.8}, {2048, 43.4, 49.4}, {4096, 45.7, 51.2}, {8192, 47.0, 51.3}};

TEST(Published, SquaresOnAnH200AreWithin25Percent) {
  const Device& device = *find_device("NVIDIA H200");
  const Wishes schedule = {{"split_matmul_k.splits", 1}, {"blockify_launch.bm", 64}, {"blockify_launch.bn", 128},
                           {"register_tile.fm", 8},      {"register_tile.fn", 8},    {"tma_copy", 1}};
  for (const auto& [n, kernel, cublas] : squares) {
    const auto lowering = lower(matmul(n, n, n), target_of(device), schedule);
    ASSERT_TRUE(lowering);
    const double us = predicted(*lowering, device);
    const double flops = 2e-6 * std::pow(static_cast<double>(n), 3), published = flops / kernel;
    fmt::print("{:5} predicted {:8.1f} published {:8.1f} cuBLAS {:8.1f} us, {:.2f}\n", n, us, published, flops / cublas,
               us / published);
    EXPECT_NEAR(us, published, 0.25 * published) << n;
    EXPECT_NEAR(us, flops / cublas, 0.25 * flops / cublas) << n;
  }
}

struct Row {
  std::string gpu, name;
  std::int64_t m = 0, n = 0, k = 0;
  double us = 0;
  Wishes wishes;
};

Wishes wishes_of(const std::string& knobs) {
  std::map<std::string, std::int64_t> known;
  std::istringstream in(knobs);
  for (std::string knob; std::getline(in, knob, ',');) {
    const std::size_t equals = knob.find('=');
    known[knob.substr(0, equals)] = std::atoll(knob.c_str() + equals + 1);
  }
  return {{"chunk_matmul_k.bk", known["BK"]},
          {"split_matmul_k.splits", known["SPLITK"]},
          {"blockify_launch.bm", known["BM"] * known["FM"]},
          {"blockify_launch.bn", known["BN"] * known["FN"]},
          {"stage_inputs", 1},
          {"register_tile.fm", known["FM"]},
          {"register_tile.fn", known["FN"]},
          {"double_buffer.depth", known["RING"]},
          {"tma_copy", known["TMA"]}};
}

// Reads the f32 matmuls with static sizes on the devices above, each schedule once. The table lists most of them twice,
// the second time from a later revision and in another notation.
std::vector<Row> read_rows(const std::filesystem::path& table) {
  std::ifstream in(table);
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '\t');) cells.push_back(cell);
    const bool plain = cells.at(2) == "matmul" && cells.at(7) == "fp32" && cells.at(8) == "False" &&
                       cells.at(12).find("BM=") != std::string::npos;
    if (!plain || find_device(cells[0]) == nullptr) continue;
    const Row row{cells[0],
                  cells[3],
                  std::stoll(cells[4]),
                  std::stoll(cells[5]),
                  std::stoll(cells[6]),
                  std::stod(cells[9]),
                  wishes_of(cells.at(12))};
    const auto same = [&](const Row& r) {
      return r.gpu == row.gpu && r.name == row.name && r.us == row.us && r.wishes == row.wishes;
    };
    if (std::ranges::none_of(rows, same)) rows.push_back(row);
  }
  return rows;
}

// Predicted and published times (µs) and rates (TFLOP/s) of one device.
struct Figures {
  std::vector<double> predicted, published, rate, published_rate;
};

TEST(SharedFacts, TheOrderOfDeplodocksFastestMatmuls) {
  const auto table = std::filesystem::path(DEPLO_SOURCE_DIR) / "../shared/facts/golden_matmuls.tsv";
  if (!std::filesystem::exists(table)) GTEST_SKIP() << "no " << table;
  std::map<std::string, Figures> devices_figures;
  int left_out = 0;
  for (const Row& row : read_rows(table)) {
    const Device& device = *find_device(row.gpu);
    const auto lowering = lower(matmul(row.m, row.n, row.k), target_of(device), row.wishes);
    if (!lowering) {
      fmt::print("{:24} {:28} not legal here\n", row.gpu, row.name);
      ++left_out;
      continue;
    }
    const double us = predicted(*lowering, device);
    const double flops = 2e-6 * static_cast<double>(row.m) * static_cast<double>(row.n) * static_cast<double>(row.k);
    fmt::print("{:24} {:28} {:4} x {:4} x {:4} predicted {:8.1f} published {:8.1f} us, {:.2f}\n", row.gpu, row.name,
               row.m, row.n, row.k, us, row.us, us / row.us);
    Figures& figures = devices_figures[row.gpu];
    figures.predicted.push_back(us);
    figures.published.push_back(row.us);
    figures.rate.push_back(flops / us);
    figures.published_rate.push_back(flops / row.us);
  }
  ASSERT_EQ(devices_figures.size(), 2U);
  for (const auto& [name, f] : devices_figures) {
    double logs = 0;
    int near = 0;
    for (std::size_t i = 0; i < f.predicted.size(); ++i) {
      const double log = std::log(f.predicted[i] / f.published[i]);
      logs += log;
      near += std::abs(log) < std::log(1.25) ? 1 : 0;
    }
    const double times = spearman(f.predicted, f.published), rates = spearman(f.rate, f.published_rate);
    fmt::print(
        "{}: {} schedules, rank correlation of times {:.2f}, of TFLOP/s {:.2f}, mean ratio {:.2f}, within 25 %: {}\n",
        name, f.predicted.size(), times, rates, std::exp(logs / static_cast<double>(f.predicted.size())), near);
    EXPECT_GE(f.predicted.size(), 18U);
    EXPECT_GT(times, 0.95) << name;
    EXPECT_GT(rates, 0.9) << name;
  }
  // The schedule that is left out has 1,024 threads with 8 x 2 outputs each, in one slot. It reaches 0.64 of cuBLAS.
  EXPECT_EQ(left_out, 1);
}

}  // namespace
}  // namespace deplo::rules
