// The basic blocks and loops of a function of machine code.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "measure/cuda/sass/listing.h"

namespace deplo::measure::cuda::sass {

/// A basic block: instructions [begin, end) of the function, which are executed one after another.
struct Block {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> successors;  // indices of blocks of the same function
};

/// Returns the blocks in the order of the text; block 0 is the function's entry. Calls are assumed to return, and a
/// warp that reconverges (BSYNC) is assumed to continue with the next instruction. Throws Error with the line of a
/// branch without a label.
std::vector<Block> basic_blocks(const Function&);

/// A natural loop: all blocks on a path from its header back to the header. A cycle that can be entered elsewhere than
/// at its header is not a natural loop.
struct Loop {
  std::string label;                      // label of the header; "": none
  std::size_t header = 0;                 // index of the header block
  std::size_t depth = 0;                  // number of loops around this loop
  std::vector<std::size_t> blocks;        // ascending, including the header and the blocks of inner loops
  std::vector<std::size_t> instructions;  // indices of the instructions of these blocks, ascending
};

/// Returns the loops in the order of their headers. Two kinds of loops are not listed but count as a part of the loop
/// around them: a wait for a barrier, and the repetition by which a warp makes a value uniform (`BRA.U.ANY`), which
/// runs once if the value is uniform already.
std::vector<Loop> find_loops(const Function&);

}  // namespace deplo::measure::cuda::sass
