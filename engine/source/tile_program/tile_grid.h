// Reads the grid of a tile program's launch: numbers of blocks, or formulas over the launch's arguments.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ir/tile_program/type.h"

namespace deplo::engine {

/// The names that a formula may use.
struct GridNames {
  std::map<std::string, ir::tile_program::Extents, std::less<>> shapes;  // shapes of arrays, for `a[0]`
  std::map<std::string, std::int64_t, std::less<>> numbers;              // named integer arguments, for `n`
};

/// Reads `64,2` or `cdiv(a[0], 128), cdiv(a[1], 64)`: one to three formulas, separated by commas. A formula may
/// contain whole numbers, extents of arrays, integer arguments, + - * /, min(x, y) and cdiv(x, y). / rounds down, cdiv
/// rounds up. Throws Error in one line that begins with `where`.
std::array<std::int64_t, 3> read_grid(std::string_view text, const GridNames&, std::string_view where);

}  // namespace deplo::engine
