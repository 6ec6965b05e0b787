#include "ir/softmax.h"

#include <algorithm>
#include <limits>

#include "ir/hardware/float16.h"
#include "ir/walk.h"

namespace deplo::ir {

Expr seen(const Body& body, const Arg& score) {
  const auto* name = std::get_if<std::string>(&score);
  const auto made = std::ranges::find_if(body, [&](const Stmt& s) { return name != nullptr && defined(s) == *name; });
  if (made == body.end()) return 1;
  if (const auto* index = made->as<Index>(); index != nullptr && index->type.dtype == DType::boolean)
    return index->value;
  const auto* assign = made->as<Assign>();
  if (assign == nullptr) return 1;
  const auto both = [](const Expr& a, const Expr& b) {
    return a.is_constant(1) ? b : b.is_constant(1) ? a : Expr(ExprOp::land, a, b);
  };
  const std::vector<Arg>& args = assign->args;
  if (assign->op == Op::add || assign->op == Op::logical_and) return both(seen(body, args[0]), seen(body, args[1]));
  const bool masks = assign->op == Op::select && args[2] == Arg(-std::numeric_limits<double>::infinity());
  return masks ? both(seen(body, args[0]), seen(body, args[1])) : 1;
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
