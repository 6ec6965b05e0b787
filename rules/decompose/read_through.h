// Private to compose: an index map of index maps as one.
#pragma once
#include <vector>

#include "ir/tensor/emitter.h"

namespace deplo::rules {

using ir::tensor::Coordinates;

/// A branch of an index map, with the node that it reads.
struct Read {
  int source = 0;
  Coordinates coordinates;
  ir::Expr condition = 1;
};

/// What the index map (of nodes of `graph`) reads when it reads past the index maps among its arguments, in order, the
/// last without a condition: conditions that the coordinates' ranges decide are gone. A gather reads past an index map
/// of one branch; nothing reads past a gather.
///
///   t[i, j] = x[j, i], s[i, j] = t[i + 5, j]  →  s[i, j] = x[j, i + 5]
std::vector<Read> read_through(const ir::tensor::Graph& graph, const ir::tensor::Node& map);

/// Whether a coordinate is the value of an argument.
bool gathers(const ir::tensor::IndexMap&);
/// What an expression of coordinates is at the place `coordinates`, which are made of variables in `ranges`.
ir::Expr at(const ir::Expr&, const Coordinates& coordinates, const ir::Ranges& ranges);
/// Variables, constants and operations of the expression; some number above `most` where there are more than that.
int terms(const ir::Expr&, int most);

}  // namespace deplo::rules
