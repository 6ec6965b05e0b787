#include "apps/run/blocks_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include "apps/cli/write_file.h"
#include "apps/run/subject.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "core/file.h"
#include "engine/compile/target.h"
#include "engine/source/tile_launch.h"
#include "measure/worker/blocks.h"

namespace deplo::apps {
namespace {

namespace tiles = ir::tile_program;

void check_options(const RunOptions& options, const std::string& why) {
  const auto refuse = [&](bool given, const char* flag) {
    if (given) throw Error(fmt::format("{} needs kernels, but this program runs block by block: {}", flag, why));
  };
  refuse(options.tuned.has_value(), "--tuned");
  refuse(options.nearest, "--nearest");
  refuse(options.require_tuned, "--require-tuned");
  refuse(options.whole, "--whole");
  refuse(options.reference.has_value(), "--reference");
}

/// Integers are equal or not. `rounding` as of compare_output().
OutputCheck compare_array(const tiles::Array& expected, const tiles::Array& found, const ir::Shape& shape,
                          double tolerance, const std::vector<double>& rounding) {
  const ir::DType dtype = dtype_of(expected.element);
  OutputCheck check = compare_output(numbers_of(found, dtype), numbers_of(expected, dtype).doubles(), {dtype, shape},
                                     tolerance, rounding);
  if (ir::is_integral(expected.element)) check.right = expected.bytes == found.bytes;
  check.name = found.name;
  return check;
}

/// The arrays that changed, or should have.
std::vector<OutputCheck> compare_arrays(const engine::TileLaunch& launch, const RunOptions& options,
                                        const std::vector<tiles::Array>& before,
                                        const std::vector<tiles::Array>& expected,
                                        const std::vector<tiles::Array>& found) {
  std::vector<tiles::Array> exact;  // once something differs
  const auto rounding = [&](std::size_t i) {
    if (exact.empty()) {
      exact = before;
      tiles::Launch unrounded = launch_of(launch, options.seed);
      unrounded.exact16 = true;
      tiles::run(launch.program, unrounded, exact);
    }
    return rounding_of(expected[i].numbers(), exact[i].numbers(), dtype_of(expected[i].element));
  };
  std::vector<OutputCheck> checks;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].bytes == before[i].bytes && expected[i].bytes == before[i].bytes) continue;
    const ir::Shape& shape = launch.arrays[i].shape;
    checks.push_back(compare_array(expected[i], found[i], shape, options.tolerance, {}));
    if (!checks.back().right && !ir::is_integral(expected[i].element))
      checks.back() = compare_array(expected[i], found[i], shape, options.tolerance, rounding(i));
  }
  return checks;
}

}  // namespace

RunReport run_blocks(const RunOptions& options, const std::string& why, Progress& progress) {
  check_options(options, why);
  const engine::TileSource& source = *options.source.tile();
  engine::TileLaunch launch = read_launch(source);
  engine::Inputs inputs = options.inputs;
  give(inputs, launch);
  check_met(inputs);
  const std::vector<tiles::Array> before = make_arrays(launch, options.seed);

  // The interpreter comes first: it checks what nothing checks on a device.
  progress.status("reference", "block by block, in double");
  std::vector<tiles::Array> expected = before;
  tiles::run(launch.program, launch_of(launch, options.seed), expected);

  progress.status(launch.entry, "building and running");
  measure::worker::BlocksWorker worker(
      {worker_program().string(),
       {"worker", "--tuner", std::to_string(getpid()), "--device", options.device, "--blocks"}});
  const Target target =
      engine::pick_target(options.target, worker.info(), worker.dialect(), options.device, "--target");
  const rules::BlockKernel kernel = lower_blocks(launch, target);
  std::vector<tiles::Array> found = before;
  const double microseconds = worker.run(kernel, found, options.limit, !options.no_measure);

  RunReport report;
  report.device = worker.info().name;
  report.target = target.name;
  report.seed = options.seed;
  report.tolerance = options.tolerance;
  report.timed = !options.no_measure;
  report.blocks = {launch.entry, why, launch.grid, kernel.source.threads, microseconds, worker.printed()};
  for (const ir::Buffer& buffer : kernel.kernel.buffers)
    report.buffer_bytes += static_cast<double>(ir::element_count(buffer.shape) * ir::bytes(buffer.dtype));
  report.tensor_bytes = report.buffer_bytes;
  report.outputs = compare_arrays(launch, options, before, expected, found);
  if (options.outputs) make_folder(*options.outputs, "--outputs");
  for (std::size_t i = 0; options.outputs && i < found.size(); ++i)
    if (found[i].bytes != before[i].bytes || expected[i].bytes != before[i].bytes)
      write_array(*options.outputs, found[i], launch.arrays[i].shape);
  return report;
}

}  // namespace deplo::apps
