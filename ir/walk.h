// Walks and edits of bodies, which all rules share. They follow from the parts that the statements list (parts.h).
#pragma once
#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/text/match.h"
#include "ir/accumulators.h"
#include "ir/program.h"

namespace deplo::ir {

/// The statements inside a Loop, If, Tile or another statement with a body; nullptr if the statement has no body.
const Body* inner_body(const Stmt&);
Body* inner_body(Stmt&);

/// Calls f(stmt) for every statement, outer before inner, in order.
template <class F>
void for_each(const Body& body, F&& f);
/// Calls f(stmt) for every statement, outer before inner, in order; f may change the statement.
template <class F>
void for_each(Body& body, F&& f);
/// Calls f(s) for every statement s of type S, in the same order. If the body is not const, f may change s.
template <class S, class B, class F>
void for_each(B& body, F&& f);
/// Whether f(s) for a statement s of type S.
template <class S, class F>
bool any_of(const Body& body, F&& f);
/// Whether there is a statement of one of the types S.
template <class... S>
bool has(const Body& body);

/// Calls `visit` for each part of the statement, but not for the parts of statements inside it: visit(expression),
/// visit(use, name), visit(axis) for an axis that the statement opens, and visit(body). An Arg that is a value becomes
/// visit(Use::value, name), unless `visit` takes an Arg.
template <class S, class Visit>
void for_each_part(S& stmt, const Visit& visit);
/// Calls f(use, name) for each name that for_each_part visits.
template <class F>
void for_each_name(const Stmt& stmt, F&& f);
/// Calls other(name) for every name that the program gives to a buffer, value, barrier or descriptor, and axis(name)
/// for every name that it gives to an axis.
template <class Other, class OfAxis>
void for_each_new_name(const Program& program, Other&& other, OfAxis&& axis);

/// Replaces every expression of the body by f(expression, ranges of the axes in scope).
using MapExpr = std::function<Expr(const Expr&, const Ranges&)>;
void map_expressions(Body& body, Ranges& scope, const MapExpr& f);

/// Substitutes axes everywhere in the program and simplifies the changed expressions under the ranges in scope. The new
/// axes must already be in place (loops and tile axes), so that their ranges are known.
void substitute_axes(Program& program, const Substitution& substitution);

/// Names the axes a0, a1, … in order of appearance: tile axes first, then loops from the outside in.
void renumber_axes(Program& program);

/// An axis name that the program does not use yet.
std::string fresh_axis(const Program& program);

/// Names of the axes and values that a statement reads, also in indices and bounds, but not in inner statements. A name
/// in an index expression may be an axis or a value that the statement gathers by, so it stands in both lists.
struct Reads {
  std::vector<std::string> axes, values;
};
Reads reads(const Stmt& stmt);
/// Like reads(), without copies: calls expr(expression) for each expression that the statement reads, and value(name)
/// for each value that the statement reads outside of expressions.
template <class OfExpr, class OfValue>
void visit_reads(const Stmt& stmt, OfExpr&& expr, OfValue&& value);
/// Calls f(name) for every occurrence of a variable in the expression.
template <class F>
void for_each_variable(const Expr& e, F&& f);
/// Calls f(name) for every axis and value that the statement reads, in its expressions and outside of them.
template <class F>
void for_each_read(const Stmt& stmt, F&& f) {
  visit_reads(
      stmt, [&](const Expr& e) { for_each_variable(e, f); }, f);
}
/// The value that a statement defines or accumulates into; "" if it does neither. The last one if there are several.
const std::string& defined(const Stmt& stmt);

/// Whether an index expression of the list names a value that the body defines, and not only axes.
bool names_value(const Body& body, const std::vector<Expr>& index);

/// The first Stage of a buffer; nullptr: the body has none.
const Stage* find_stage(const Body& body, std::string_view buffer);

/// Whether the lanes of a Load need not be consecutive elements: its index names the variable `lane`.
bool reads_apart(const Load& load);
/// Whether the lanes of a Write need not be consecutive elements: its index names the variable `lane`.
bool writes_apart(const Write& write);
/// The index for one lane: replaces the variable `lane` by this number.
std::vector<Expr> in_lane(const std::vector<Expr>& index, int lane);

/// The flat element offset of an index: sum of index * stride.
Expr flat_offset(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& = {});

/// The number of blocks, threads, registers or lanes of the tile: the product of its axes of that binding.
std::int64_t count_of(const Tile& tile, Bind bind);
/// The same number for the body's tile; 1 if the body has no tile.
std::int64_t count_of(const Body& body, Bind bind);

/// The number of Stages from statement `i` on that belong together: a run of neighbours with the same condition. The
/// run ends before the second Stage of any buffer.
std::size_t stage_run(const Body& body, std::size_t i);

/// The range of a loop's variable.
Interval range_of(const Loop& loop);
/// Appends the ranges of the axes that a Tile or a Loop opens.
void open_axes(const Stmt&, Ranges&);

// --- inline

template <class F>
void for_each(const Body& body, F&& f) {
  for (const Stmt& stmt : body) {
    f(stmt);
    if (const Body* inner = inner_body(stmt)) for_each(*inner, f);
  }
}

template <class F>
void for_each(Body& body, F&& f) {
  for (Stmt& stmt : body) {
    f(stmt);
    if (Body* inner = inner_body(stmt)) for_each(*inner, f);
  }
}

template <class S, class B, class F>
void for_each(B& body, F&& f) {
  for_each(body, [&](auto& stmt) {
    if (auto* s = stmt.template as<S>()) f(*s);
  });
}

template <class S, class F>
bool any_of(const Body& body, F&& f) {
  bool found = false;
  for_each<S>(body, [&](const S& s) { found = found || f(s); });
  return found;
}

template <class... S>
bool has(const Body& body) {
  bool found = false;
  for_each(body, [&](const Stmt& stmt) { found = found || ((stmt.as<S>() != nullptr) || ...); });
  return found;
}

namespace detail {

/// The `see` of a statement's parts(): calls `visit` for each element of a list.
template <class Visit>
struct EachPart {
  const Visit& visit;

  template <class P>
  void operator()(P& part) const {
    using Part = std::remove_const_t<P>;
    if constexpr (std::is_same_v<Part, Arg> && !std::is_invocable_v<const Visit&, P&>) {
      if (auto* name = std::get_if<std::string>(&part)) visit(Use::value, *name);
    } else if constexpr (std::ranges::range<P> && !std::is_same_v<Part, Body>) {
      for (auto& one : part) (*this)(one);
    } else {
      visit(part);
    }
  }
  template <class N>
  void operator()(Use use, N& names) const {
    if constexpr (std::is_same_v<std::remove_const_t<N>, std::string>) {
      visit(use, names);
    } else {
      for (auto& name : names) visit(use, name);
    }
  }
};

}  // namespace detail

template <class S, class Visit>
void for_each_part(S& stmt, const Visit& visit) {
  const detail::EachPart<Visit> see{visit};
  match(stmt.node, [&](auto& s) { s.parts(s, see); });
}

template <class F>
void for_each_name(const Stmt& stmt, F&& f) {
  for_each_part(stmt, cases{[](const Expr&) {}, f, [](const Axis&) {}, [](const Body&) {}});
}

template <class Other, class OfAxis>
void for_each_new_name(const Program& program, Other&& other, OfAxis&& axis) {
  for (const Buffer& buffer : program.buffers) other(buffer.name);
  const auto name = [&](Use use, const std::string& n) {
    if (use == Use::defines || use == Use::declares) other(n);
  };
  for_each(program.body, [&](const Stmt& stmt) {
    for_each_part(stmt, cases{[](const Expr&) {}, name, [&](const Axis& a) { axis(a.name); }, [](const Body&) {}});
  });
}

template <class OfExpr, class OfValue>
void visit_reads(const Stmt& stmt, OfExpr&& expr, OfValue&& value) {
  const auto name = [&](Use use, const std::string& n) {
    if (use == Use::value) value(n);
  };
  for_each_part(stmt, cases{[&](const Expr& e) { expr(e); }, name, [](const Axis&) {}, [](const Body&) {}});
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
