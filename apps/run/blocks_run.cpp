#include "apps/run/blocks_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "apps/cli/write_file.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "core/file.h"
#include "engine/compile/target.h"
#include "engine/source/tile_launch.h"
#include "ir/hardware/float16.h"
#include "measure/worker/blocks.h"

namespace deplo::apps {
namespace {

namespace tiles = ir::tile_program;

void check_options(const RunOptions& options, const std::string& why) {
  const auto refuse = [&](bool given, const char* flag) {
    if (given)
      throw Error(fmt::format("{}: expected kernels with it, found a program that runs block by block: {}", flag, why));
  };
  refuse(options.tuned.has_value(), "--tuned");
  refuse(options.nearest, "--nearest");
  refuse(options.whole, "--whole");
  refuse(options.reference.has_value(), "--reference");
}

/// As compare_output() takes it; of a type that Loop IR has not, one that holds its numbers.
ir::DType dtype_of(tiles::Element element) {
  if (const auto dtype = ir::parse_dtype(name(element))) return *dtype;
  return tiles::is_integer(element) ? ir::DType::i32 : ir::DType::f32;
}

/// Integers are equal or not. Of 16 bits a number beside the interpreter's is right: its sums are of another order.
OutputCheck compare_array(const tiles::Array& expected, const tiles::Array& found, const ir::Shape& shape,
                          double tolerance) {
  const ir::TensorType type{dtype_of(expected.element), shape};
  std::vector<double> numbers, rounding;
  std::vector<float> values;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    numbers.push_back(expected.number(i));
    rounding.push_back(ir::is_float(type.dtype) ? 2 * ir::unit_roundoff(type.dtype) * std::abs(numbers.back()) : 0);
    values.push_back(static_cast<float>(found.number(i)));
  }
  OutputCheck check = compare_output(values, numbers, type, tolerance, rounding);
  if (tiles::is_integer(expected.element)) check.right = expected.bytes == found.bytes;
  check.name = found.name;
  return check;
}

}  // namespace

RunReport run_blocks(const RunOptions& options, const std::string& why, Progress& progress) {
  check_options(options, why);
  const auto& source = std::get<engine::TileSource>(options.source);
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
  const tiles::BlockKernel kernel = lower_blocks(launch, target);
  std::vector<tiles::Array> found = before;
  const double microseconds = worker.run(kernel, found, options.limit);

  RunReport report;
  report.device = worker.info().name;
  report.target = target.name;
  report.seed = options.seed;
  report.tolerance = options.tolerance;
  report.blocks = {launch.entry, why, launch.grid, kernel.source.threads, microseconds, worker.printed()};
  for (const ir::Buffer& buffer : kernel.kernel.buffers)
    report.buffer_bytes += static_cast<double>(ir::element_count(buffer.shape) * ir::bytes(buffer.dtype));
  report.tensor_bytes = report.buffer_bytes;
  if (options.outputs) make_folder(*options.outputs, "--outputs");
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].bytes == before[i].bytes && expected[i].bytes == before[i].bytes) continue;
    report.outputs.push_back(compare_array(expected[i], found[i], launch.arrays[i].shape, options.tolerance));
    if (options.outputs) write_array(*options.outputs, found[i], launch.arrays[i].shape);
  }
  return report;
}

}  // namespace deplo::apps
