// A launch of a tile program: its arrays, numbers and grid, and the kernels that it becomes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "engine/source/source.h"
#include "ir/emit/tile_program/block_kernel.h"
#include "ir/fill.h"
#include "ir/module.h"
#include "ir/tile_program/interpret/interpret.h"
#include "measure/baselines/tile_call.h"
#include "rules/raise/raise.h"

namespace deplo::engine {

struct TileLaunch {
  struct Array {  // dense, the last dimension's stride 1
    std::string name;
    ir::DType element = ir::DType::f32;
    ir::tile_program::Extents shape;
    std::string file = {};              // .npy, with its values; "": they are drawn
    std::optional<ir::Fill> fill = {};  // what they are drawn from; nullopt: as where nothing is said
  };
  ir::tile_program::Program program;
  std::vector<std::uint8_t> bytecode;  // of the program; empty: it is a text
  std::string entry;
  std::vector<Array> arrays;
  std::vector<ir::tile_program::Argument> arguments;  // one for each parameter, arrays by their numbers
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

/// An entry has a pointer for each array; or, as NVIDIA's Python package exports it, pointer, extents and strides. Which of
/// them is seen by how many parameters it has. An array in a .npy file has the file's type and shape; of a type that NumPy
/// has not (bf16, 8 bits) the file's is float32. Throws Error in one line for what is not as it should be.
TileLaunch read_launch(const TileSource&);

/// Takes the array's values from this file. Throws Error that names it where it has another shape or type.
void set_file(TileLaunch::Array&, const std::string& file);

/// The values that the arrays begin with: of their file, as they are; drawn from the seed uniform(-1, 1), of integers 0 to
/// 99, unless they say otherwise. Throws Error where there are too many for the host.
std::vector<ir::tile_program::Array> make_arrays(const TileLaunch&, std::uint64_t seed);

/// As the interpreter and lower_blocks() take it.
ir::tile_program::Launch launch_of(const TileLaunch&, std::uint64_t seed);

/// The kernels of a launch, verified: the one place where any is made (rules/raise/raise.h). A launch that is not raised
/// can be lowered block by block (lower_blocks()). Throws Error if the launch is wrong, or an array is too large.
std::variant<ir::Module, rules::NotRaised> try_raise(const TileLaunch&);
/// The same; throws Error for a launch that is not raised, too.
ir::Module raise(const TileLaunch&);
/// The same, each kernel's inputs to be drawn as the launch says (engine/source/fill_kernels.h).
ir::Module lower_to_measure(const TileLaunch&);
/// The array that a tensor of its module is: `Y_out` is Y after the launch, unless an array is called so itself.
std::size_t array_of(const TileLaunch&, std::string tensor);
/// The launch as NVIDIA's compiler takes it, its arrays by the names of the module's tensors. It has a `problem` for a
/// text, and for an array that the program reads and writes, or neither reads nor writes.
measure::TileCall tile_call(const TileLaunch&, const ir::Module&);
/// The same for its only kernel; a module of several has a `problem`.
measure::TileCall kernel_tile_call(const TileLaunch&, const ir::Module&);
/// One kernel for all of it, block by block, with as many threads as the heuristic says. Throws Error in one line for what
/// the target's language has no word for.
ir::tile_program::BlockKernel lower_blocks(const TileLaunch&, const Target&);

}  // namespace deplo::engine
