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
    std::string file = {};              // .npy file with the values; "": the values are drawn
    std::optional<ir::Fill> fill = {};  // the distribution that values are drawn from; nullopt: the default
  };
  ir::tile_program::Program program;
  std::vector<std::uint8_t> bytecode;  // of the program; empty: the program is a text
  std::string entry;
  std::vector<Array> arrays;
  std::vector<ir::tile_program::Argument> arguments;  // one for each parameter, arrays by their numbers
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

/// An entry has one parameter for each array, a pointer; or, as NVIDIA's Python package exports it, a pointer, the
/// extents and the strides. The number of parameters shows which. An array in a .npy file has the file's type and
/// shape. Types that NumPy does not have (bf16, 8 bits) are stored as float32 in the file. Throws Error in one line if
/// anything is wrong.
TileLaunch read_launch(const TileSource&);

/// Takes the array's values from this file. Throws Error that names the file if it has another shape or type.
void set_file(TileLaunch::Array&, const std::string& file);

/// The initial values of the arrays: from their files, or drawn with the seed. By default floats are drawn from
/// uniform(-1, 1) and integers from 0 to 99. Throws Error if an array is too large for the host.
std::vector<ir::tile_program::Array> make_arrays(const TileLaunch&, std::uint64_t seed);

/// Equal for launches that are equal except for the values of their arrays.
std::string identity(const TileLaunch&);

/// The launch in the form that the interpreter and the block-by-block lowering take.
ir::tile_program::Launch launch_of(const TileLaunch&, std::uint64_t seed);

/// The verified kernels of a launch. All kernels of launches are made here (rules/raise/raise.h). A launch that cannot
/// be raised can be lowered block by block (lower_blocks()). Throws Error if the launch is wrong, or an array is too
/// large.
std::variant<ir::Module, rules::NotRaised> try_raise(const TileLaunch&);
/// The same, but throws Error if the launch cannot be raised.
ir::Module raise(const TileLaunch&);
/// Sets the inputs of the launch's kernels for measurements: the values of arrays from files, and the distributions of
/// the others (engine/source/fill_kernels.h).
void give_inputs(const TileLaunch&, ir::Module&);
/// The array that a tensor of the launch's module stands for. `Y_out` is Y after the launch, unless there is an array
/// called `Y_out`.
std::size_t array_of(const TileLaunch&, std::string tensor);
/// The launch in the form for NVIDIA's compiler, with the arrays named like the module's tensors. It has a `problem` if
/// the program is a text, or if the program both reads and writes an array, or does neither.
measure::TileCall tile_call(const TileLaunch&, const ir::Module&);
/// The same for the module's only kernel. It has a `problem` if the module has several kernels.
measure::TileCall kernel_tile_call(const TileLaunch&, const ir::Module&);
/// The array's elements. Throws Error if there are too many for the host.
std::int64_t elements_of(const TileLaunch::Array&);

}  // namespace deplo::engine
