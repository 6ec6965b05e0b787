#include "measure/tile_program/both.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "ir/interpret/interpret.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/launch_once.h"
#include "measure/opencl/opencl.h"
#include "rules/blocks/drawn_trail.h"

namespace deplo::measure {

namespace tp = ir::tile_program;
using ir::DType;

namespace {

Device& opencl() {
  static const std::unique_ptr<Device> device = open_device("opencl");
  return *device;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool is_close(double expected, double found, double allowed) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == found) return expected != 0 || std::signbit(expected) == std::signbit(found) || allowed != 0;
  return std::fabs(expected - found) <= allowed;
}

/// Returns the distance between the absolute value of a number and the next larger number of its type.
double last_place(double x, ir::DType e) {
  if (ir::is_integral(e) || !std::isfinite(x)) return 0;
  const double above = ir::decode_float(ir::encode_float(std::fabs(x), e) + 1, e);
  return std::isfinite(above) ? above - std::fabs(x) : std::fabs(x) / 2;
}

/// Returns the first difference, or "" if there is none.
std::string difference(const tp::Array& expected, const tp::Array& found, double relative, double ulps) {
  double greatest = 0;
  for (std::int64_t i = 0; i < expected.elements() && relative != 0; ++i)
    if (std::isfinite(expected.number(i))) greatest = std::max(greatest, std::fabs(expected.number(i)));
  for (std::int64_t i = 0; i < expected.elements(); ++i)
    if (!is_close(expected.number(i), found.number(i),
                  relative * greatest + ulps * last_place(expected.number(i), expected.element)))
      return fmt::format("{}[{}]: expected {}, found {}", expected.name, i, expected.number(i), found.number(i));
  return "";
}

std::optional<Failure> run_blocks(Device& device, const rules::BlockKernel& kernel, std::vector<tp::Array>& arrays) {
  Contents contents = contents_of(kernel, arrays);
  try {
    const Result<double> time = launch_once(device, {kernel.kernel, kernel.source}, contents);
    if (!time.ok()) return time.failure();
    take_contents(kernel, contents, arrays);
  } catch (const Error& error) {
    return Failure{Status::guard_hit, error.what()};
  }
  return std::nullopt;
}

}  // namespace

tp::Program both_program(const std::string& path) {
  return tp::read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / path);
}

void Both::expect_equal(std::array<std::int64_t, 3> grid, double relative, double ulps) {
  launcher.launch.grid = grid;
  std::vector<tp::Array> expected = launcher.arrays;
  const std::string printed = tp::run(program_, launcher.launch, expected).printed;
  if (!opencl_devices().empty()) expect_on_opencl(expected, printed, relative, ulps);
  if (interprets) expect_interpreted(expected, printed, relative, ulps);
  expect_compiles();
  if (interprets) expect_on_ptx(expected, printed, relative, ulps);
}

void Both::expect_on_opencl(const std::vector<tp::Array>& expected, const std::string& printed, double relative,
                            double ulps) {
  for (const rules::BlockSchedule& schedule : schedules(target_of(opencl().info())))
    expect_on(opencl(), schedule, expected, printed, relative, ulps);
}

/// Returns the heuristic's schedule for each number of threads, and a random schedule with one of these numbers.
std::vector<rules::BlockSchedule> Both::schedules(const Target& target) const {
  std::vector<rules::BlockSchedule> all;
  for (const std::int64_t n : threads) all.push_back({.threads = n});
  if (!draws) return all;
  const tp::Entry& entry = tp::find_entry(program_, launcher.launch.entry);
  const rules::BlockDecisions decisions(entry, target, threads);
  Rng rng(entry.values.size());
  all.push_back(decisions.schedule(rules::drawn_trail(decisions, rng)).value());
  return all;
}

// Runs the kernel on the PTX machine, for the first architecture.
void Both::expect_on_ptx(const std::vector<tp::Array>& expected, const std::string& printed, double relative,
                         double ulps) {
  if (architectures.empty() || !cuda::Nvrtc::available() || !cuda::Nvrtc::get().supports(architectures[0])) return;
  const auto device = open_device("ptx:" + architectures[0]);
  const tp::Entry& entry = tp::find_entry(program_, launcher.launch.entry);
  const Target target = target_of(device->info());
  const rules::BlockDecisions decisions(entry, target, rules::block_threads(entry, target));
  expect_on(*device, decisions.schedule({}).value(), expected, printed, relative, ulps);
}

std::string Both::finding(const std::string& part, const std::string& other) const {
  const tp::Entry& entry = tp::find_entry(program_, launcher.launch.entry);
  const Target target = load_target("sm_80");
  const rules::BlockDecisions decisions(entry, target, rules::block_threads(entry, target));
  rules::BlockKernel kernel =
      rules::lower_blocks(program_, launcher.launch, launcher.arrays, decisions.schedule({}).value(), target);
  std::string& text = kernel.source.text;
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << "\n" << text;
  if (at != std::string::npos) text.replace(at, part.size(), other);
  for (int seed = 0; seed < 8; ++seed) {
    std::vector<tp::Array> arrays = launcher.arrays;
    const auto failed = run_blocks(*open_device(fmt::format("ptx:sm_80:{}", seed)), kernel, arrays);
    if (failed) return failed->message;
  }
  return "";
}

void Both::expect_on(Device& device, const rules::BlockSchedule& schedule, const std::vector<tp::Array>& expected,
                     const std::string& printed, double relative, double ulps) {
  const rules::BlockKernel kernel =
      rules::lower_blocks(program_, launcher.launch, launcher.arrays, schedule, target_of(device.info()));
  std::vector<tp::Array> found = launcher.arrays;
  ::testing::internal::CaptureStdout();
  const auto failed = run_blocks(device, kernel, found);
  std::fflush(stdout);
  const std::string text = ::testing::internal::GetCapturedStdout();
  const std::string where = fmt::format("{}, {} threads\n{}", device.info().name, schedule.threads, kernel.source.text);
  ASSERT_FALSE(failed) << failed->message << "\n" << where;
  EXPECT_EQ(sorted_lines(text), sorted_lines(printed)) << where;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(difference(expected[i], found[i], relative, ulps), "") << where;
}

/// Checks that the kernel's text gives the same kernel again, and that the interpreter of Kernel IR computes the same
/// as the program.
void Both::expect_interpreted(const std::vector<tp::Array>& expected, const std::string& printed, double relative,
                              double ulps) {
  const Target target = load_target("opencl-cpu");
  for (const rules::BlockSchedule& schedule : schedules(target)) {
    const std::int64_t n = schedule.threads;
    const rules::BlockKernel kernel = rules::lower_blocks(program_, launcher.launch, launcher.arrays, schedule, target);
    const std::string text = ir::print(kernel.kernel);
    ASSERT_EQ(ir::verify(kernel.kernel), "") << text;
    ASSERT_EQ(ir::print(ir::parse(text)), text);
    std::vector<tp::Array> buffers = launcher.arrays;
    std::string found;
    try {
      found = rules::interpret(kernel, buffers, {.seed = 1});
    } catch (const Error& error) {
      FAIL() << n << " threads: " << error.what() << "\n" << text;
    }
    EXPECT_EQ(sorted_lines(found), sorted_lines(printed)) << n << " threads\n" << text;
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(difference(expected[i], buffers[i], relative, ulps), "") << n << " threads, interpreted\n" << text;
  }
}

std::string Both::source(std::string_view name) const {
  const Target target = load_target(std::string(name));
  const tp::Entry& entry = tp::find_entry(program_, launcher.launch.entry);
  const rules::BlockDecisions decisions(entry, target, rules::block_threads(entry, target));
  return rules::lower_blocks(program_, launcher.launch, launcher.arrays, decisions.schedule({}).value(), target)
      .source.text;
}

void Both::expect_compiles() {
  for (const std::string& architecture : architectures) {
    if (!cuda::Nvrtc::available() || !cuda::Nvrtc::get().supports(architecture)) continue;
    const Target target = load_target(architecture);
    const tp::Entry& entry = tp::find_entry(program_, launcher.launch.entry);
    const rules::BlockDecisions decisions(entry, target, rules::block_threads(entry, target));
    const rules::BlockKernel kernel =
        rules::lower_blocks(program_, launcher.launch, launcher.arrays, decisions.schedule({}).value(), target);
    const auto cubin = cuda::compile_cubin(kernel.source, architecture);
    ASSERT_TRUE(cubin.ok()) << cubin.failure().message << "\n" << kernel.source.text;
  }
}

std::string Both::refusal(std::array<std::int64_t, 3> grid, std::string_view target) {
  launcher.launch.grid = grid;
  try {
    const rules::BlockKernel kernel =
        rules::lower_blocks(program_, launcher.launch, launcher.arrays, {.threads = 32}, load_target(target));
    if (target != "opencl-cpu" || opencl_devices().empty()) return "";
    std::vector<tp::Array> arrays = launcher.arrays;
    if (const auto failed = run_blocks(opencl(), kernel, arrays)) return failed->message;
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace deplo::measure
