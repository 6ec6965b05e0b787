// Tile programs → Kernel IR, block by block: a work group executes one tile block as the program states it, and its
// threads share the elements of each tile. This is for programs that cannot be written element by element as a function
// of arrays: atomics and locks, printing, scans, f64, stores in branches, loops whose end depends on data
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
#include "rules/blocks/decisions.h"

namespace deplo::rules {

/// A kernel for one launch. The launch's arguments and grid are compiled into it.
struct BlockKernel {
  /// Kernel IR. Its buffers are the arrays in order, followed by the kernel's own buffers. Arrays of element types that
  /// Loop IR lacks are stored as 32-bit words. Arrays that the program does not write are inputs.
  ir::Program kernel;
  ir::KernelSource source;
  /// The contents that one of the kernel's own buffers must have before each launch.
  struct Initial {
    std::size_t buffer = 0;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Initial> initial;
  std::vector<bool> written;  // for each array: the program may write it
  /// The number of the buffer with one i32: 0, or 1 + the number of the assertion that failed. -1 if the program has no
  /// assertions.
  std::int64_t assertion_buffer = -1;
  std::vector<std::string> assertions;  // the message of each assertion, with its place in the program
};

/// `arrays`: the arrays that the launch's arguments name; their types and sizes matter, but not their values. The
/// schedule's number of threads must be a power of two that the target supports. Throws Error in one line if the
/// arguments do not fit the entry. Also throws Error, with the operation's place, if the target's language cannot
/// express an operation.
BlockKernel lower_blocks(const ir::tile_program::Program&, const ir::tile_program::Launch&,
                         std::span<const ir::tile_program::Array> arrays, const BlockSchedule&, const Target&);

/// Bytes of scratch memory per block.
std::int64_t scratch_bytes(const BlockKernel&);

/// The contents of the kernel's buffers before a launch, in the order of the buffers. Empty: the buffer may have any
/// contents.
std::vector<std::vector<std::uint8_t>> contents_of(const BlockKernel&, std::span<const ir::tile_program::Array>);
/// Copies the contents of the kernel's buffers after a launch into the arrays. Throws Error if an assertion failed.
void take_contents(const BlockKernel&, std::span<const std::vector<std::uint8_t>> contents,
                   std::vector<ir::tile_program::Array>& arrays);

/// Runs the kernel on the arrays with the interpreter of Kernel IR (ir::interpret_blocks). Returns what its blocks
/// print. Throws Error if ir::interpret_blocks throws it, or if an assertion failed.
std::string interpret(const BlockKernel&, std::vector<ir::tile_program::Array>& arrays, const ir::Limits& = {});

}  // namespace deplo::rules
