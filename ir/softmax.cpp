#include "ir/softmax.h"

#include <algorithm>
#include <limits>

#include "ir/types/float16.h"
#include "ir/walk.h"

namespace deplo::ir {

namespace {

const Stmt* maker(const Body& body, const Arg& value) {
  const auto* name = std::get_if<std::string>(&value);
  const auto made = std::ranges::find_if(body, [&](const Stmt& s) { return name != nullptr && defined(s) == *name; });
  return made == body.end() ? nullptr : &*made;
}

Expr where_false(const Body& body, const Arg& value);

// Returns a condition on positions that holds wherever the value is neither 0 nor false; 1 if no condition is known.
Expr where_true(const Body& body, const Arg& value) {
  const Stmt* made = maker(body, value);
  if (made == nullptr) return 1;
  if (const auto* index = made->as<Index>(); index != nullptr && index->type.dtype == DType::boolean)
    return index->value;
  const auto* assign = made->as<Assign>();
  if (assign == nullptr) return 1;
  const std::vector<Arg>& args = assign->args;
  const Arg zero = 0.0;
  if (assign->op == Op::logical_and || assign->op == Op::multiply)
    return both(where_true(body, args[0]), where_true(body, args[1]));
  if (assign->op == Op::select && args[2] == zero) return both(where_true(body, args[0]), where_true(body, args[1]));
  if (assign->op == Op::select && args[1] == zero) return both(where_false(body, args[0]), where_true(body, args[2]));
  if (assign->op == Op::not_equal && args[1] == zero) return where_true(body, args[0]);
  return assign->op == Op::logical_not ? where_false(body, args[0]) : Expr(1);
}

// Returns a condition on positions that holds wherever the value is 0 or false; 1 if no condition is known.
Expr where_false(const Body& body, const Arg& value) {
  const Stmt* made = maker(body, value);
  const auto* assign = made == nullptr ? nullptr : made->as<Assign>();
  const bool is_zero = assign != nullptr && assign->op == Op::equal && assign->args[1] == Arg(0.0);
  return is_zero || (assign != nullptr && assign->op == Op::logical_not) ? where_true(body, assign->args[0]) : Expr(1);
}

}  // namespace

Expr both(const Expr& a, const Expr& b) {
  return a.is_constant(1) ? b : b.is_constant(1) ? a : Expr(ExprOp::land, a, b);
}

Expr seen(const Body& body, const Arg& score) {
  const Stmt* made = maker(body, score);
  const auto* assign = made == nullptr ? nullptr : made->as<Assign>();
  if (assign == nullptr) return 1;
  const std::vector<Arg>& args = assign->args;
  const Arg hidden = -std::numeric_limits<double>::infinity();
  if (assign->op == Op::add) return both(seen(body, args[0]), seen(body, args[1]));
  if (assign->op != Op::select) return 1;
  if (args[2] == hidden) return both(where_true(body, args[0]), seen(body, args[1]));
  return args[1] == hidden ? both(where_false(body, args[0]), seen(body, args[2])) : Expr(1);
}

DType exponential_type(const Program& program, const Arg& weight) {
  const auto* name = std::get_if<std::string>(&weight);
  DType result = DType::f32;
  for_each(program.body, [&](const Stmt& stmt) {
    const auto* load = stmt.as<Load>();
    if (name == nullptr || load == nullptr || load->dst != *name) return;
    const Buffer* source = program.find(load->buffer);
    if (source != nullptr && is_float16(source->dtype)) result = source->dtype;
  });
  return result;
}

bool has_softmax_sum(const Program& program) { return has<SoftmaxSum>(program.body); }

Stmt opening(const SoftmaxSum& s) {
  return Accum{s.maximum, {}, Op::maximum, {-std::numeric_limits<double>::infinity()}};
}

Body steps(const SoftmaxSum& s, const std::function<std::string()>& fresh) {
  Body body;
  const auto assign = [&](Op op, std::vector<Arg> args) {
    std::string value = fresh();
    body.emplace_back(Assign{value, {}, op, std::move(args)});
    return value;
  };
  const std::string maximum = assign(Op::maximum, {assign(Op::maximum, {s.maximum, s.score}), lowest_maximum}),
                    factor = assign(Op::exp, {assign(Op::subtract, {s.maximum, maximum})}),
                    part = assign(Op::exp, {assign(Op::subtract, {s.score, maximum})});
  body.emplace_back(Accum{s.maximum, {}, Op::maximum, {s.score}});
  for (std::size_t i = 0; i < s.sums.size(); ++i) {
    const bool counts = s.weights[i] == Arg(1.0);
    const std::string term = counts ? part : assign(Op::multiply, {part, s.weights[i]});
    body.emplace_back(Scale{s.sums[i], {}, factor});
    body.emplace_back(Accum{s.sums[i], {}, Op::add, {term}});
  }
  return body;
}

}  // namespace deplo::ir
