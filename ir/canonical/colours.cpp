#include "ir/canonical/colours.h"

#include <bit>

#include "core/text/match.h"
#include "ir/canonical/order.h"

namespace deplo::ir {

bool product_commutes(Op op) { return op == Op::fma || (arity(op) == 2 && is_commutative(op)); }

SymbolColours::Term SymbolColours::evaluate(const Expr& e) const {
  constexpr Colour one = 0xd6e8feb86659fd93U;
  if (e.kind() == Expr::Kind::constant) return {one * static_cast<Colour>(e.value()), true, e.value()};
  if (e.kind() == Expr::Kind::variable) return {mix(at(e.name())), false, 0};
  const Term l = evaluate(e.lhs()), r = evaluate(e.rhs());
  const auto op = static_cast<Colour>(e.op());
  switch (e.op()) {
    case ExprOp::add:
      return {l.hash + r.hash, false, 0};
    case ExprOp::sub:
      return {l.hash - r.hash, false, 0};
    case ExprOp::mul:
      if (l.constant) return {r.hash * static_cast<Colour>(l.value), false, 0};
      if (r.constant) return {l.hash * static_cast<Colour>(r.value), false, 0};
      [[fallthrough]];
    case ExprOp::min:
    case ExprOp::max:
    case ExprOp::eq:
    case ExprOp::land:
    case ExprOp::bxor:
      return {mix(op, mix(l.hash) + mix(r.hash)), false, 0};
    case ExprOp::div:
    case ExprOp::mod:
    case ExprOp::lt:
      return {mix(mix(op, l.hash), r.hash), false, 0};
  }
  return {};
}

Colour SymbolColours::of(const Arg& arg) const {
  if (const auto* name = std::get_if<std::string>(&arg)) return mix(at(*name), 1);
  return mix(std::bit_cast<Colour>(std::get<double>(arg)), 2);
}

Colour SymbolColours::arguments(Op op, const std::vector<Arg>& args) const {
  Colour c = mix(static_cast<Colour>(op));
  std::size_t i = 0;
  if (product_commutes(op)) {
    c = mix(c, mix(of(args[0])) + mix(of(args[1])));
    i = 2;
  }
  for (; i < args.size(); ++i) c = mix(c, of(args[i]));
  return c;
}

// Hashes the statement's kind, its operations and the current colours of the symbols that it reads.
Colour SymbolColours::describe(const Stmt& stmt) const {
  const auto type = [](const Type& t) { return mix(static_cast<Colour>(t.dtype), static_cast<Colour>(t.lanes)); };
  const auto indices = [&](const std::vector<Expr>& list) {
    Colour c = list.size();
    for (const Expr& e : list) c = mix(c, expression(e));
    return c;
  };
  return match(
      stmt.node,
      [&](const Loop& s) {
        Colour c = mix(static_cast<Colour>(s.axis.extent), static_cast<Colour>(s.axis.bind));
        c = mix(mix(c, static_cast<Colour>(s.step)), static_cast<Colour>(s.unroll));
        c = mix(c, expression(s.start));
        return s.end ? mix(c, expression(*s.end)) : c;
      },
      [&](const If& s) { return mix(3, expression(s.condition)); },
      [&](const Load& s) { return mix(mix(4, type(s.type)), mix(at(s.buffer), indices(s.index))); },
      [&](const Index& s) { return mix(mix(5, type(s.type)), expression(s.value)); },
      [&](const Assign& s) { return mix(mix(6, type(s.type)), arguments(s.op, s.args)); },
      [&](const Accum& s) {
        return mix(mix(7, type(s.type)), mix(static_cast<Colour>(s.op), arguments(Op::copy, s.args)));
      },
      [&](const SoftmaxSum& s) { return mix(mix(9, of(s.score)), arguments(Op::subtract, s.weights)); },
      [&](const Write& s) {
        return mix(mix(8, static_cast<Colour>(s.mode)), mix(mix(at(s.buffer), indices(s.index)), of(s.value)));
      },
      []<class S>(const S&) requires(!permits<S>(Level::loop)) {
        CHECK(!"a statement of Loop IR");
        return Colour{0};
      });
}

}  // namespace deplo::ir
