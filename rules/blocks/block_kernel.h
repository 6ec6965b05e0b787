// Tile programs → Kernel IR, block by block: a work group executes one tile block as the program states it, and its
// threads share the elements of each tile. This is for programs that cannot be written as a function of arrays, element
// by element: atomics and locks, printing, scans, f64, stores in branches, loops whose end depends on data
// (docs/tile_programs.md, "Block by block").
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/program.h"
#include "ir/tile_program/interpret/interpret.h"

namespace deplo::rules {

/// A kernel for one launch: arguments and grid are compiled into it.
struct BlockKernel {
  /// Kernel IR. The buffers are the arrays in order, then the kernel's own. Element types that Loop IR lacks are bytes.
  ir::Program kernel;
  ir::KernelSource source;
  /// The contents that one of the kernel's own buffers must have before each launch.
  struct Initial {
    std::size_t buffer = 0;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Initial> initial;
  /// The buffer of an i32 that is 0, or 1 + the number of the assertion that failed; -1 if the program has no
  /// assertions.
  std::int64_t assertion_buffer = -1;
  std::vector<std::string> assertions;  // the message of each if it fails, with its place
};

/// The numbers of threads that a block may have: powers of two, the heuristic's pick first. On a CPU the pick is one
/// thread per block; on a GPU each thread gets a few elements of the largest tile.
std::vector<std::int64_t> block_threads(const ir::tile_program::Entry&, const Target&);

/// `arrays`: the arrays that the launch's arguments name; their types and sizes matter, but not their values.
/// `threads`: a power of two that the target supports. Throws Error in one line if the arguments do not fit the entry,
/// and, with the operation's place, if the target's language cannot express an operation.
BlockKernel lower_blocks(const ir::tile_program::Program&, const ir::tile_program::Launch&,
                         std::span<const ir::tile_program::Array> arrays, std::int64_t threads, const Target&);

/// Runs the kernel on the arrays with the interpreter of Kernel IR (ir::interpret_blocks). Returns what its blocks print.
/// Throws Error as that does, and if an assertion failed.
std::string interpret(const BlockKernel&, std::vector<ir::tile_program::Array>& arrays, const ir::Limits& = {});

}  // namespace deplo::rules
