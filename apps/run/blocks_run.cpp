#include "apps/run/blocks_run.h"

#include <fmt/format.h>

#include "apps/run/output_files.h"
#include "apps/run/subject.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "engine/compile/target.h"
#include "engine/compile/tuned.h"
#include "engine/source/tile_program/block_program.h"
#include "engine/source/tile_program/tile_launch.h"
#include "engine/tune/open_runner.h"
#include "measure/check/tile_arrays.h"
#include "measure/worker/single_launch.h"

namespace deplo::apps {
namespace {

namespace tiles = ir::tile_program;

void check_options(const RunOptions& options, const std::string& why) {
  const auto refuse = [&](bool given, const char* flag) {
    if (given) throw Error(fmt::format("{} needs kernels, but this program runs block by block: {}", flag, why));
  };
  refuse(options.nearest, "--nearest");
  refuse(options.whole, "--whole");
  refuse(options.reference.has_value(), "--reference");
}

/// Compares an array with the expected one. Integers must be equal. `rounding`: as for compare_output().
OutputCheck compare_array(const tiles::Array& expected, const tiles::Array& found, const ir::Shape& shape,
                          double tolerance, const std::vector<double>& rounding) {
  const ir::DType dtype = measure::comparable_dtype(expected.element);
  OutputCheck check = compare_output(measure::numbers_of(found, dtype), measure::numbers_of(expected, dtype).doubles(),
                                     {dtype, shape}, tolerance, rounding);
  if (ir::is_integral(expected.element)) check.right = expected.bytes == found.bytes;
  check.name = found.name;
  return check;
}

/// Compares the arrays that changed, or that should have changed.
std::vector<OutputCheck> compare_arrays(const engine::TileLaunch& launch, const RunOptions& options,
                                        const std::vector<tiles::Array>& before,
                                        const std::vector<tiles::Array>& expected,
                                        const std::vector<tiles::Array>& found) {
  std::vector<tiles::Array> exact;  // computed once an array differs
  const auto rounding = [&](std::size_t i) {
    if (exact.empty()) {
      exact = before;
      tiles::Launch unrounded = launch_of(launch, options.seed);
      unrounded.exact16 = true;
      tiles::run(launch.program, unrounded, exact);
    }
    return measure::rounding_of(expected[i].numbers(), exact[i].numbers(),
                                measure::comparable_dtype(expected[i].element));
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
  engine::TileLaunch launch = read_tile_launch(*options.source.tile(), options.inputs);
  const std::vector<tiles::Array> before = make_arrays(launch, options.seed);

  // The interpreter runs first, because it finds errors that a device does not report.
  progress.status("reference", "block by block, in double");
  std::vector<tiles::Array> expected = before;
  tiles::run(launch.program, launch_of(launch, options.seed), expected);

  progress.status(launch.entry, "building and running");
  measure::worker::LaunchWorker worker(engine::worker_command({"--device", options.device, "--once"}));
  const Target target =
      engine::pick_target(options.target, worker.info(), worker.dialect(), options.device, "--target");
  const engine::BlockProgram program(launch, target);
  engine::TunedCache cache(options.tuned, worker.info(), target, false, options.tolerance);
  const engine::OpaqueSchedule schedule = cache.find(program);
  if (options.require_tuned) cache.require_tuned("--require-tuned");
  const rules::BlockKernel kernel = program.lower(program.schedule(schedule.trail).value_or_throw());
  std::vector<tiles::Array> found = before;
  measure::Contents contents = contents_of(kernel, found);
  const double microseconds = worker.run({kernel.kernel, kernel.source}, contents, options.limit, !options.no_measure);
  take_contents(kernel, contents, found);

  RunReport report = begin_report(options, worker.info(), target, kernel.kernel.buffers);
  report.blocks = {launch.entry,    why,          launch.grid, kernel.source.threads, microseconds, worker.printed(),
                   schedule.origin, schedule.note};
  report.outputs = compare_arrays(launch, options, before, expected, found);
  OutputFiles files(options.outputs);
  for (std::size_t i = 0; files.wanted() && i < found.size(); ++i)
    if (found[i].bytes != before[i].bytes || expected[i].bytes != before[i].bytes)
      add_array(files, found[i], launch.arrays[i].shape);
  files.finish();
  return report;
}

}  // namespace deplo::apps
