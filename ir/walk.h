// Walking and editing bodies: what every rule needs and none should write again.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/accumulators.h"
#include "ir/program.h"

namespace deplo::ir {

/// As inner_body(const Stmt&) of accumulators.h, to edit.
Body* inner_body(Stmt&);

/// Calls f(stmt) for every statement, outer before inner, in order.
template <class F>
void for_each(const Body& body, F&& f);

/// Replaces every expression of the body by f(expression, ranges of the axes in scope).
using MapExpr = std::function<Expr(const Expr&, const Ranges&)>;
void map_expressions(Body& body, Ranges& scope, const MapExpr& f);

/// Substitutes axes everywhere in the program and simplifies what changed under the ranges in scope. The new axes must
/// already be in place (loops and tile axes), so that their ranges are known.
void substitute_axes(Program& program, const Substitution& substitution);

/// Names the axes a0, a1, … in order of appearance: tile axes first, then loops from the outside in.
void renumber_axes(Program& program);

/// An axis name that the program does not use yet.
std::string fresh_axis(const Program& program);

/// Names of the axes and values that a statement reads, indices and bounds included; not those of inner statements.
/// What an index expression names may be an axis or a value that is gathered by: it stands in both lists.
struct Reads {
  std::vector<std::string> axes, values;
};
Reads reads(const Stmt& stmt);
/// The same without copies: each expression that it reads, and each value that is not in one.
void visit_reads(const Stmt& stmt, const std::function<void(const Expr&)>& expr,
                 const std::function<void(const std::string&)>& value);
/// Calls f(name) for every variable of the expression, as often as it stands there.
template <class F>
void for_each_variable(const Expr& e, F&& f);
/// The value that a statement defines or accumulates into; "" when it does neither.
const std::string& defined(const Stmt& stmt);

/// The flat element offset of an index: sum of index * stride.
Expr flat_offset(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& = {});

/// How many blocks, threads, registers or lanes the tile has.
std::int64_t count_of(const Tile& tile, Bind bind);
/// The same of the body's tile; 1 where there is none.
std::int64_t count_of(const Body& body, Bind bind);

/// How many Stages from statement `i` on belong together: a run of neighbours ends before a buffer's second Stage.
std::size_t stage_run(const Body& body, std::size_t i);

/// The range of a loop's variable.
Interval range_of(const Loop& loop);

// --- inline

template <class F>
void for_each(const Body& body, F&& f) {
  for (const Stmt& stmt : body) {
    f(stmt);
    if (const Body* inner = inner_body(stmt)) for_each(*inner, f);
  }
}

template <class F>
void for_each_variable(const Expr& e, F&& f) {
  if (e.kind() == Expr::Kind::variable) {
    f(e.name());
  } else if (e.kind() == Expr::Kind::binary) {
    for_each_variable(e.lhs(), f);
    for_each_variable(e.rhs(), f);
  }
}

}  // namespace deplo::ir
