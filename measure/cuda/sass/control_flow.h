// Basic blocks and loops of a function of machine code.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "measure/cuda/sass/listing.h"

namespace deplo::measure::cuda::sass {

/// Instructions that are executed one after the other, [begin, end) of the function's.
struct Block {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> successors;  // blocks of the same function
};

/// In the order of the text; block 0 is the function's entry. A call returns; a warp that meets others again (BSYNC)
/// goes on behind it. Throws Error with the line of a branch without a label.
std::vector<Block> basic_blocks(const Function&);

/// A natural loop: all blocks on a way from its header back to it. A jump into its middle from outside makes none.
struct Loop {
  std::string label;                      // of the header; "" where it has none
  std::size_t header = 0;                 // a block
  std::size_t depth = 0;                  // loops around it
  std::vector<std::size_t> blocks;        // ascending, the header and the loops within among them
  std::vector<std::size_t> instructions;  // of them, ascending
};

/// In the order of their headers. Two kinds count as no loops, but as a part of the loop around them: waiting for a
/// barrier, and the repetition by which a warp makes a value uniform (`BRA.U.ANY`), which is gone through once where it
/// is uniform already.
std::vector<Loop> find_loops(const Function&);

}  // namespace deplo::measure::cuda::sass
