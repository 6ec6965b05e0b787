// Tile programs → source text, block by block: a work group executes a tile block as the program says it, its threads
// deal the elements of each tile out among themselves. For what is no function of arrays element by element: atomics and
// locks, printing, scans, f64, stores in branches, loops that end when data say so (docs/tile_programs.md, "Block by
// block").
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/program.h"
#include "ir/tile_program/interpret/interpret.h"

namespace deplo::ir::tile_program {

/// A kernel for one launch: arguments and grid are compiled into it.
struct BlockKernel {
  /// Of Kernel IR this has name and buffers alone, for what builds and launches. Buffers are the arrays in their order,
  /// then those that the kernel needs for itself; elements that Loop IR has no word for are bytes.
  ir::Program kernel;
  KernelSource source;
  /// What a buffer of the kernel's own has to hold before each launch.
  struct Initial {
    std::size_t buffer = 0;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Initial> initial;
  /// The buffer of an i32 that is 0, or 1 + the number of the assertion that failed; -1 where the program asserts nothing.
  std::int64_t assertion_buffer = -1;
  std::vector<std::string> assertions;  // what a failed one says, with its place
};

/// Threads of a block that a launch may take: powers of two, the heuristic's first. A CPU's thread does a block alone, at
/// best; a GPU wants a few elements of the largest tile for each.
std::vector<std::int64_t> block_threads(const Entry&, const Target&);

/// `arrays` are those that the launch's arguments name: their elements and sizes count, not their values. `threads` is a
/// power of two that the target takes. Throws Error in one line: where arguments do not fit the entry, and, with the
/// operation's place, for what the target's language has no word for.
BlockKernel lower_blocks(const Program&, const Launch&, std::span<const Array> arrays, std::int64_t threads,
                         const Target&);

}  // namespace deplo::ir::tile_program
