#include "rules/decompose/coordinates.h"

#include <cmath>
#include <cstdint>

#include "rules/decompose/read_through.h"

namespace deplo::rules {

using ir::DType;
using ir::Expr;
using ir::ExprOp;
using ir::Op;
namespace tensor = ir::tensor;

namespace {

constexpr int max_terms_of_index = 32;  // a mask has about ten terms

bool is_whole(DType dtype) { return dtype == DType::i32 || dtype == DType::boolean; }

std::optional<Expr> operand(const tensor::Node& n) {
  if (const auto* c = n.as<tensor::Coordinate>(); c != nullptr && n.args.empty()) return c->value;
  const auto* s = n.as<tensor::Scalar>();
  if (s == nullptr || !is_whole(n.type.dtype) || std::fabs(s->value) > 0x1p31) return std::nullopt;
  return Expr(static_cast<std::int64_t>(s->value));
}

std::optional<Expr> unary(Op op, const Expr& a, DType from, DType to) {
  if (op == Op::negative) return 0 - a;
  if (op == Op::logical_not) return ir::equal(a, 0);
  if (op != Op::copy) return std::nullopt;
  return to == DType::boolean && from != to ? ir::equal(ir::equal(a, 0), 0) : a;
}

std::optional<Expr> binary(Op op, const Expr& a, const Expr& b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::maximum:
      return Expr(ExprOp::max, a, b);
    case Op::minimum:
      return ir::min(a, b);
    case Op::less:
      return ir::less(a, b);
    case Op::less_equal:
      return ir::less(a, b + 1);
    case Op::equal:
      return ir::equal(a, b);
    case Op::not_equal:
      return ir::equal(ir::equal(a, b), 0);
    case Op::logical_and:
      return Expr(ExprOp::land, a, b);
    case Op::logical_or:
      return ir::less(0, a + b);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Expr> of_coordinates(const tensor::Graph& graph, const tensor::Node& node) {
  if (!is_whole(node.type.dtype) || node.args.empty() || node.args.size() > 2) return std::nullopt;
  std::vector<Expr> args;
  for (const int a : node.args) {
    std::optional<Expr> value = operand(graph.nodes[static_cast<std::size_t>(a)]);
    if (!value) return std::nullopt;
    args.push_back(std::move(*value));
  }
  const Op op = node.as<tensor::Elementwise>()->op;
  const DType from = graph.nodes[static_cast<std::size_t>(node.args[0])].type.dtype;
  const std::optional<Expr> value =
      args.size() == 1 ? unary(op, args[0], from, node.type.dtype) : binary(op, args[0], args[1]);
  if (!value || terms(*value, max_terms_of_index) > max_terms_of_index) return std::nullopt;
  const ir::Ranges ranges = tensor::coordinate_ranges(node.type.shape);
  const Expr simple = ir::simplify(*value, ranges);
  const std::optional<ir::Interval> range = ir::bounds(simple, ranges);
  return range && range->low >= INT32_MIN && range->high <= INT32_MAX ? std::optional(simple) : std::nullopt;
}

}  // namespace deplo::rules
