// Tile programs → Loop IR. A tile program states what a block does with whole tiles. Loop IR states the value of each
// element of the outputs, so every scheduling rule applies. The program's own blocks and loops over tiles disappear.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/module.h"
#include "ir/tile_program/program.h"

namespace deplo::rules {

/// The target of a pointer argument: the first element of an array. Strides in elements, one per dimension.
struct TileArray {
  std::string name;  // name of the buffer
  ir::Shape shape, strides;
};
/// The value of an entry's parameter: an array for a pointer, otherwise a number.
using TileArgument = std::variant<TileArray, std::int64_t, double>;

/// The reason why a launch cannot become kernels of Loop IR, in one line with the place of the operation. The launch
/// can still run block by block.
struct NotRaised {
  std::string why;
};

struct TileLaunch {
  std::string entry;                    // "": the program has only one
  std::vector<TileArgument> arguments;  // one per parameter
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

/// Turns a launch of a verified tile program into kernels, one per array that the program writes, in order. A later
/// kernel may read the results of an earlier one.
/// - An array that the program reads and writes becomes two buffers: `Y` as it was before the launch, `Y_out` as it is
///   after the launch.
/// - In a scatter, the loaded indices must be distinct. Elements that no index selects become 0.
/// - If a tile reaches beyond its tensor and the program does not specify a padding, the elements there are 0.
/// Returns NotRaised if the program is not a function from its inputs to elements that are each written once (atomics,
/// stores that another block may read, trip counts that depend on data), or if Loop IR cannot express it (f64, scans).
/// Throws Error in one line, with the place of the operation, if the launch is wrong: arguments that do not fit the
/// entry, a view beyond its array, an `assume` that does not hold.
std::variant<ir::Module, NotRaised> try_raise(const ir::tile_program::Program&, const TileLaunch&);
/// The same, but throws Error instead of returning NotRaised.
ir::Module raise(const ir::tile_program::Program&, const TileLaunch&);

}  // namespace deplo::rules
