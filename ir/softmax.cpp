#include "ir/softmax.h"

#include <limits>

namespace deplo::ir {

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
