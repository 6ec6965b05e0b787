// Tile programs → Loop IR: a program that says what a block does with whole tiles becomes what each element of its
// outputs is, so that every rule of schedules applies to it. Its own blocks and loops over tiles vanish.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/module.h"
#include "ir/tile_program/program.h"

namespace deplo::rules {

/// What a pointer argument points to: the first element of an array. Strides in elements, one per dimension.
struct TileArray {
  std::string name;  // of the buffer
  ir::Shape shape, strides;
};
/// The value of an entry's parameter: an array for a pointer, else a number.
using TileArgument = std::variant<TileArray, std::int64_t, double>;

/// Why a launch becomes no kernels of Loop IR, in one line with the place of the operation. It can run block by block.
struct NotRaised {
  std::string why;
};

struct TileLaunch {
  std::string entry;                    // "" for the only one
  std::vector<TileArgument> arguments;  // one for each parameter
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

/// The kernels that a launch of a verified tile program is, one for each array that it writes, in order; a later one
/// reads what an earlier one has computed. An array that the program reads and writes is two buffers: `Y` as it was
/// before the launch, `Y_out` as it is after it. Of an array that is written where loaded integers say, of which no two
/// may be the same, what none of them chooses is 0. Where a tile reaches beyond its tensor and the program leaves open
/// what is there, it is 0. NotRaised: the program is no function from its inputs to elements that are each written once
/// (atomics, stores that another block may read, trips that depend on the data), or Loop IR cannot express what it does
/// (f64, scans). Throws Error in one line, with the place of the operation, if the launch is wrong: arguments that do not
/// fit the entry, a view beyond its array, an `assume` that does not hold.
std::variant<ir::Module, NotRaised> try_raise(const ir::tile_program::Program&, const TileLaunch&);
/// The same; throws Error for NotRaised, too.
ir::Module raise(const ir::tile_program::Program&, const TileLaunch&);

}  // namespace deplo::rules
