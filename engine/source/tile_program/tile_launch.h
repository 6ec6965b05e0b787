// A launch of a tile program: its arrays, numbers and grid, and its lowering to kernels.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "engine/source/source.h"
#include "ir/module.h"
#include "ir/tile_program/interpret/interpret.h"
#include "ir/types/fill.h"
#include "measure/baselines/tile_call.h"
#include "rules/raise/raise.h"

namespace deplo::engine {

struct TileLaunch {
  struct Array {  // dense, row-major
    std::string name;
    ir::DType element = ir::DType::f32;
    ir::tile_program::Extents shape;
    std::string file = {};              // .npy file with the values; "": the values are drawn at random
    std::optional<ir::Fill> fill = {};  // the distribution that values are drawn from; nullopt: the default
  };
  ir::tile_program::Program program;
  std::vector<std::uint8_t> bytecode;  // bytecode of the program; empty: the program is a text
  std::string entry;
  std::vector<Array> arrays;
  std::vector<ir::tile_program::Argument> arguments;  // one for each parameter; arrays by their index
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

/// Reads a launch. For each array, the entry has a single parameter, a pointer; or, as NVIDIA's Python package exports
/// entries, a pointer, the extents and the strides. The number of parameters shows which of the two forms it has. An
/// array in a .npy file has the file's type and shape. Types that NumPy does not have (bf16, 8 bits) are stored as
/// float32 in the file. Throws Error in one line if anything is wrong.
TileLaunch read_launch(const TileSource&);

/// Sets the file that the array's values are read from. Throws Error, prefixed by the file, if the file's shape or type
/// is not the array's.
void set_file(TileLaunch::Array&, const std::string& file);

/// Returns the arrays with their initial values, which are read from files or drawn with the seed. By default, floats
/// are drawn from uniform(-1, 1), integers from 0 to 99, and booleans from 0 and 1. Throws Error if an array is too
/// large for the host.
std::vector<ir::tile_program::Array> make_arrays(const TileLaunch&, std::uint64_t seed);

/// Returns a text that is equal for launches that differ only in the values of their arrays.
std::string identity(const TileLaunch&);

/// Returns the launch in the form that the interpreter and the block-by-block lowering take.
ir::tile_program::Launch launch_of(const TileLaunch&, std::uint64_t seed);

/// Raises a launch to verified kernels of Loop IR (rules/raise/raise.h). No other function makes such kernels of
/// launches. A launch that cannot be raised can be lowered block by block (lower_blocks()). Throws Error if the launch
/// is wrong, or if an array is too large.
std::variant<ir::Module, rules::NotRaised> try_raise(const TileLaunch&);
/// Sets the inputs of the launch's kernels for measurements: values from files, and distributions for all other arrays
/// (engine/source/fill_kernels.h).
void give_inputs(const TileLaunch&, ir::Module&);
/// Returns the index of the array that a tensor of the launch's module stands for. The tensor `Y_out` is the array Y
/// after the launch, unless there is an array called `Y_out`.
std::size_t array_of(const TileLaunch&, std::string tensor);
/// Returns the launch in the form for NVIDIA's compiler, with the arrays named like the module's tensors. The result
/// has a `problem` if the program is a text, both reads and writes an array, or has an array that it does not use.
measure::TileCall tile_call(const TileLaunch&, const ir::Module&);
/// Like tile_call(), for the module's only kernel. The result has a `problem` if the module has several kernels.
measure::TileCall kernel_tile_call(const TileLaunch&, const ir::Module&);
/// Returns the number of the array's elements. Throws Error if there are too many for the host.
std::int64_t elements_of(const TileLaunch::Array&);

}  // namespace deplo::engine
