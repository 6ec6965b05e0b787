// Tensors that join many others: the outputs of a recurrence's steps, or the pieces of a long `cat`.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "core/target.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules::fusion {

/// The tensor in whose memory another one lies, and from which byte on.
struct Part {
  int whole = -1;
  std::int64_t offset = 0;
};

struct Stacks {
  ir::tensor::Graph graph;
  std::map<int, Part> parts;  // by tensor
  std::set<int> wholes;       // no kernel computes them
  std::set<int> stored;       // tensors that are in memory, whoever reads them: the parts, and joins of neighbours
};

/// Finds the joins of many tensors whose pieces follow each other in the result's memory. Each piece is computed in its
/// place, if all begin at a multiple of part_alignment(). Other joins of very many tensors join neighbours first.
Stacks find_stacks(const ir::tensor::Graph&, const Target&);

/// Bytes: memory that begins at a multiple of this may be an argument of a kernel.
std::int64_t part_alignment(const Target&);

}  // namespace deplo::rules::fusion
