// Private to compose: merges an index map with the index maps that it reads.
#pragma once
#include <vector>

#include "ir/tensor/emitter.h"

namespace deplo::rules {

using ir::tensor::Coordinates;

/// A branch of an index map, and the node that the branch reads.
struct Read {
  int source = 0;
  Coordinates coordinates;
  ir::Expr condition = 1;
};

/// Returns the branches of the index map `map` (whose arguments are nodes of `graph`) after merging the index maps
/// among its arguments into it. The branches are in order, and the last one has no condition. Conditions that the
/// coordinates' ranges decide are removed. A gather merges only with index maps of one branch; a gather among the
/// arguments is never merged.
///
///   t[i, j] = x[j, i], s[i, j] = t[i + 5, j]  →  s[i, j] = x[j, i + 5]
std::vector<Read> read_through(const ir::tensor::Graph& graph, const ir::tensor::Node& map);

/// Returns whether a coordinate of the map contains the value of an argument.
bool gathers(const ir::tensor::IndexMap&);
/// Substitutes `coordinates` into an expression of coordinates. `ranges`: the ranges of the variables in `coordinates`.
ir::Expr at(const ir::Expr&, const Coordinates& coordinates, const ir::Ranges& ranges);
/// Returns the number of variables, constants and operations in the expression. If the number exceeds `limit`, the
/// result is some number above `limit`.
int terms(const ir::Expr&, int limit);

}  // namespace deplo::rules
