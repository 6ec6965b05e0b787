// `deplo check`, and `deplo run --tile --device interpreter`: runs an entry of a tile program on arrays, block by
// block.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/output_files.h"
#include "engine/source/inputs.h"
#include "engine/source/tile_program/tile_launch.h"

namespace deplo::apps {

struct TileRunOptions {
  engine::TileSource source;
  engine::Inputs inputs = {};          // values of arrays, instead of random ones
  std::uint64_t seed = 0;              // for the arrays' values and the order in which blocks run
  bool poison = false;                 // fill elements that the program does not specify with NaN
  std::optional<std::string> outputs;  // path for OutputFiles: the changed arrays, as NAME.npy
};

/// An array after the entry ran.
struct TileArray {
  std::string name, type;
  ir::tile_program::Extents shape;
  std::int64_t changed = 0;           // number of changed elements
  double min = 0, mean = 0, max = 0;  // of all elements
  std::vector<double> first;          // the first few elements
};

struct TileRunReport {
  std::string file, entry, printed;
  std::array<std::int64_t, 3> grid = {};
  std::int64_t operations = 0;
  std::uint64_t seed = 0;
  std::vector<TileArray> arrays;
};

/// Returns the launch with these inputs. Throws Error if there is no such source, or if an input is wrong.
engine::TileLaunch read_tile_launch(const engine::TileSource&, engine::Inputs);
/// Runs the entry. Throws Error for wrong options, and like run() of interpret.h.
TileRunReport run_tile_program(const TileRunOptions&);
std::string print_table(const TileRunReport&);
std::string print_json(const TileRunReport&);

/// Adds the array to the files as NAME.npy.
void add_array(OutputFiles&, const ir::tile_program::Array&, const ir::tile_program::Extents& shape);

}  // namespace deplo::apps
