// Tensors that join many others: the outputs of a recurrence's steps, or the pieces of a long `cat`.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "core/target.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules::fusion {

/// A tensor that lies in the memory of another one: that tensor, and the byte at which the part begins.
struct Part {
  int whole = -1;
  std::int64_t offset = 0;
};

struct Stacks {
  ir::tensor::Graph graph;
  std::map<int, Part> parts;  // key: the tensor that lies in another one
  std::set<int> wholes;       // tensors that no kernel computes, because their parts fill them
  std::set<int> stored;       // tensors that are always in memory: the parts, and joins of neighbours
};

/// Finds the joins of many tensors whose pieces follow each other in the result's memory. Each piece is then computed
/// in its place in the result, if all pieces begin at a multiple of part_alignment(). Other joins of very many tensors
/// join groups of neighbours first.
Stacks find_stacks(const ir::tensor::Graph&, const Target&);

/// The alignment in bytes that memory must have to be an argument of a kernel.
std::int64_t part_alignment(const Target&);

}  // namespace deplo::rules::fusion
