// Private to compose: merges an index map with the index maps that it reads.
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

/// The branches of the index map `map` (of nodes of `graph`) if it reads past the index maps among its arguments. They
/// are in order; the last one has no condition. Conditions that the coordinates' ranges decide are removed. A gather
/// reads past an index map of one branch only; nothing reads past a gather.
///
///   t[i, j] = x[j, i], s[i, j] = t[i + 5, j]  →  s[i, j] = x[j, i + 5]
std::vector<Read> read_through(const ir::tensor::Graph& graph, const ir::tensor::Node& map);

/// Does a coordinate of the map contain the value of an argument?
bool gathers(const ir::tensor::IndexMap&);
/// Substitutes `coordinates` into an expression of coordinates. `ranges`: the ranges of the variables in `coordinates`.
ir::Expr at(const ir::Expr&, const Coordinates& coordinates, const ir::Ranges& ranges);
/// The number of variables, constants and operations in the expression. If it exceeds `most`: some number above `most`.
int terms(const ir::Expr&, int most);

}  // namespace deplo::rules
