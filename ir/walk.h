// Walking and editing bodies: what every rule needs and none should write again. All follows from the parts that the
// statements list (parts.h).
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

/// The statements inside a Loop, If or Tile; nullptr for the others.
const Body* inner_body(const Stmt&);
Body* inner_body(Stmt&);

/// Calls f(stmt) for every statement, outer before inner, in order.
template <class F>
void for_each(const Body& body, F&& f);
/// The same to edit: f may change the statement.
template <class F>
void for_each(Body& body, F&& f);

/// Calls visit(expression), visit(use, name), visit(axis) for one that the statement opens and visit(body) for its
/// parts, not for those of the statements inside it. Of an Arg that is a value visit(Use::value, name), unless visit
/// takes an Arg.
template <class S, class Visit>
void for_each_part(S& stmt, const Visit& visit);
/// Of these the names: f(use, name).
template <class F>
void for_each_name(const Stmt& stmt, F&& f);
/// Calls other(name) for every name that the program gives to a buffer, value, barrier or descriptor, and axis(name)
/// for those of axes.
template <class Other, class OfAxis>
void for_each_new_name(const Program& program, Other&& other, OfAxis&& axis);

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
template <class OfExpr, class OfValue>
void visit_reads(const Stmt& stmt, OfExpr&& expr, OfValue&& value);
/// Calls f(name) for every variable of the expression, as often as it stands there.
template <class F>
void for_each_variable(const Expr& e, F&& f);
/// The value that a statement defines or accumulates into; "" when it does neither.
const std::string& defined(const Stmt& stmt);

/// Does an index expression of the list name a value that the body defines, and not axes only?
bool names_value(const Body& body, const std::vector<Expr>& index);

/// The first Stage of a buffer; nullptr: the body has none.
const Stage* find_stage(const Body& body, std::string_view buffer);

/// Of a Load: does its index name the lane, and how does it read in one?
bool reads_apart(const Load& load);
std::vector<Expr> in_lane(const std::vector<Expr>& index, int lane);

/// The flat element offset of an index: sum of index * stride.
Expr flat_offset(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& = {});

/// How many blocks, threads, registers or lanes the tile has.
std::int64_t count_of(const Tile& tile, Bind bind);
/// The same of the body's tile; 1 where there is none.
std::int64_t count_of(const Body& body, Bind bind);

/// How many Stages from statement `i` on belong together: a run of neighbours of one condition
/// ends before a buffer's second Stage.
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
void for_each(Body& body, F&& f) {
  for (Stmt& stmt : body) {
    f(stmt);
    if (Body* inner = inner_body(stmt)) for_each(*inner, f);
  }
}

namespace detail {

/// `see` of Statement::parts: lists become calls for each of their elements.
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
