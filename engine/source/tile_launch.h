// A launch of a tile program, as a command line gives it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/tile_program/interpret/interpret.h"

namespace deplo::engine {

struct TileSource {
  std::string file, entry;             // "": its only one
  std::vector<std::string> arguments;  // "A=f16[100,64]" or "n=64", in the entry's order
  std::string grid;                    // "64,2,1"
};

struct TileLaunch {
  struct Array {  // dense, the last dimension's stride 1
    std::string name;
    ir::tile_program::Element element = ir::tile_program::Element::f32;
    ir::tile_program::Extents shape;
  };
  ir::tile_program::Program program;
  std::string entry;
  std::vector<Array> arrays;
  std::vector<ir::tile_program::Argument> arguments;  // one for each parameter, arrays by their numbers
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

/// An entry has a pointer for each array; or, as NVIDIA's Python package exports it, pointer, extents and strides. Which of
/// them is seen by how many parameters it has. Throws Error for what is not as it should be.
TileLaunch read_launch(const TileSource&);

/// Its kernels, verified (rules/raise/raise.h). Throws Error where it is none.
ir::Module raise(const TileLaunch&);

}  // namespace deplo::engine
