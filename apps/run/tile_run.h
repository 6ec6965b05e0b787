// `deplo check`, and `deplo run --tile --device interpreter`: an entry of a tile program on arrays, block by block.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/inputs.h"
#include "engine/source/tile_launch.h"

namespace deplo::apps {

struct TileRunOptions {
  engine::TileSource source;
  engine::Inputs inputs = {};          // of the arrays, in place of what is drawn
  std::uint64_t seed = 0;              // of the arrays' values and of the order in which blocks run
  bool poison = false;                 // what the program does not specify is a NaN
  std::optional<std::string> outputs;  // the folder that changed arrays are written to, as NAME.npy
};

/// An array as the entry left it.
struct TileArray {
  std::string name, type;
  ir::tile_program::Extents shape;
  std::int64_t changed = 0;              // elements
  double least = 0, mean = 0, most = 0;  // of all elements
  std::vector<double> first;             // some of them
};

struct TileRunReport {
  std::string file, entry, printed;
  std::array<std::int64_t, 3> grid = {};
  std::int64_t operations = 0;
  std::uint64_t seed = 0;
  std::vector<TileArray> arrays;
};

/// Throws Error for options that are not as they should be, and as run() of interpret.h.
TileRunReport run_tile_program(const TileRunOptions&);
std::string print_table(const TileRunReport&, std::size_t width);
std::string print_json(const TileRunReport&);

/// The type that compare_output() and files take the elements as: their own, or one that holds their numbers.
ir::DType dtype_of(ir::DType);
/// The elements as that type.
ir::Numbers numbers_of(const ir::tile_program::Array&, ir::DType);
/// As NAME.npy in the folder.
void write_array(const std::string& folder, const ir::tile_program::Array&, const ir::tile_program::Extents& shape);

}  // namespace deplo::apps
