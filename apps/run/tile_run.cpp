#include "apps/run/tile_run.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text/json.h"
#include "core/text/text.h"
#include "measure/check/npy.h"
#include "measure/check/tile_arrays.h"

namespace deplo::apps {
namespace {

namespace tiles = ir::tile_program;

TileArray describe(const tiles::Array& before, const tiles::Array& after, const tiles::Extents& shape) {
  constexpr std::int64_t shown = 4;
  TileArray array{.name = after.name, .type = std::string(ir::tile_name(after.element)), .shape = shape, .first = {}};
  const std::int64_t elements = after.elements();
  double sum = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    const double x = after.number(i), old = before.number(i);
    array.changed += x == old || (std::isnan(x) && std::isnan(old)) ? 0 : 1;
    array.min = i == 0 ? x : std::fmin(array.min, x);
    array.max = i == 0 ? x : std::fmax(array.max, x);
    sum += x;
    if (i < shown) array.first.push_back(x);
  }
  array.mean = elements == 0 ? 0 : sum / static_cast<double>(elements);
  return array;
}

}  // namespace

void add_array(OutputFiles& files, const tiles::Array& array, const tiles::Extents& shape) {
  const ir::DType dtype = measure::comparable_dtype(array.element);
  files.add(array.name, measure::npy_bytes(measure::numbers_of(array, dtype), {dtype, shape}));
}

engine::TileLaunch read_tile_launch(const engine::TileSource& source, engine::Inputs inputs) {
  engine::TileLaunch launch = read_launch(source);
  give(inputs, launch);
  check_met(inputs);
  return launch;
}

TileRunReport run_tile_program(const TileRunOptions& options) {
  const engine::TileLaunch given = read_tile_launch(options.source, options.inputs);
  std::vector<tiles::Array> arrays = make_arrays(given, options.seed);
  tiles::Launch launch = launch_of(given, options.seed);
  launch.poison = options.poison;
  const std::vector<tiles::Array> before = arrays;
  const tiles::LaunchResult result = tiles::run(given.program, launch, arrays);

  TileRunReport report{.file = options.source.file,
                       .entry = given.entry,
                       .printed = result.printed,
                       .grid = launch.grid,
                       .operations = result.operations,
                       .seed = options.seed,
                       .arrays = {}};
  OutputFiles files(options.outputs);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const tiles::Extents& shape = given.arrays[i].shape;
    report.arrays.push_back(describe(before[i], arrays[i], shape));
    if (files.wanted() && report.arrays.back().changed != 0) add_array(files, arrays[i], shape);
  }
  files.finish();
  return report;
}

std::string print_table(const TileRunReport& report) {
  std::string text = whole_lines(report.printed);
  text += fmt::format("{} on the interpreter: {} x {} x {} blocks, {} operations, seed {}\n", report.entry,
                      report.grid[0], report.grid[1], report.grid[2], report.operations, report.seed);
  for (const TileArray& array : report.arrays) {
    std::string first;
    for (const double x : array.first) first += fmt::format(" {}", significant(x));
    text += fmt::format("  {}: {}[{}]: {} changed, {} to {}, mean {}; begins with{}\n", array.name, array.type,
                        join(array.shape, ","), counted(array.changed, "element"), significant(array.min),
                        significant(array.max), significant(array.mean), first);
  }
  return text;
}

std::string print_json(const TileRunReport& report) {
  return Json::object({{"file", report.file},
                       {"entry", report.entry},
                       {"device", "interpreter"},
                       {"grid", Json::array(report.grid)},
                       {"seed", report.seed},
                       {"operations", report.operations},
                       {"printed", report.printed},
                       {"arrays", Json::array(report.arrays,
                                              [](const TileArray& a) {
                                                return Json::object({{"name", a.name},
                                                                     {"type", a.type},
                                                                     {"shape", Json::array(a.shape)},
                                                                     {"changed", a.changed},
                                                                     {"least", a.min},
                                                                     {"mean", a.mean},
                                                                     {"most", a.max},
                                                                     {"first", Json::array(a.first)}});
                                              })}})
      .print_lines(2);
}

}  // namespace deplo::apps
