#include "library/random_expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <regex>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"

namespace deplo::testing {
namespace {

using ir::Shape;
using Statement = RandomExpression::Statement;

constexpr std::int64_t max_elements = 4000;
constexpr double max_value = 100;

std::string list(const Shape& shape) { return fmt::format("{}", fmt::join(shape, ", ")); }

/// Returns the type of the value, or nullopt if PyTorch would refuse the text, or if values or tensors are too large.
std::optional<ir::TensorType> type_of(const RandomExpression& expression) {
  try {
    const std::string text = expression.text();
    const ir::torch::Graph graph = ir::torch::parse_expression(text);
    for (const ir::torch::Node& node : graph.nodes)
      if (ir::element_count(node.type.shape) > max_elements) return std::nullopt;
    const auto values = ir::torch::evaluate(graph, random_sources(text));
    for (const double value : values.at(0))
      if (!(std::fabs(value) <= max_value)) return std::nullopt;
    return graph.nodes[static_cast<std::size_t>(graph.outputs.at(0))].type;
  } catch (const Error&) {
    return std::nullopt;
  }
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  RandomExpression run(int steps) {
    // repeats until the shape is small enough
    while (made_.statements.empty()) add(fmt::format("torch.randn({})", list(draw_shape())));
    for (int done = 0, tries = 0; done < steps && tries < 40 * steps; ++tries) done += step() ? 1 : 0;
    RandomExpression result = made_;
    result.outputs = {made_.statements.size() - 1};
    if (rng_.below(3) == 0) result.outputs.push_back(rng_.below(made_.statements.size()));
    return result;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return rng_.below(n); }
  bool chance() { return below(2) == 0; }
  std::int64_t extent() {
    constexpr std::array extents = {1, 1, 1, 2, 3, 5, 7, 8, 33, 129};
    return extents[below(extents.size())];
  }
  Shape draw_shape() {
    Shape shape(1 + below(4));
    for (std::int64_t& e : shape) e = extent();
    return shape;
  }
  template <std::size_t N>
  const char* one_of(const std::array<const char*, N>& names) {
    return names[below(N)];
  }
  /// Picks a statement. Recent statements are more likely, because chains of operations fuse.
  std::size_t pick() {
    const std::size_t n = made_.statements.size();
    return chance() ? n - 1 - below(std::min<std::size_t>(n, 3)) : below(n);
  }
  const Shape& shape(std::size_t i) const { return types_[i].shape; }
  std::int64_t dim(std::size_t i) {
    return static_cast<std::int64_t>(below(std::max<std::size_t>(shape(i).size(), 1)));
  }

  bool add(std::string text, std::vector<std::size_t> args = {}) {
    RandomExpression with = made_;
    with.statements.push_back({std::move(text), std::move(args)});
    with.outputs = {with.statements.size() - 1};
    const auto type = type_of(with);
    if (!type) return false;
    made_ = std::move(with);
    types_.push_back(*type);
    return true;
  }
  std::size_t input(const Shape& shape) {
    const bool parameter = below(3) == 0;
    if (!add(fmt::format(fmt::runtime(parameter ? "nn.Parameter(torch.randn({}))" : "torch.randn({})"), list(shape))))
      return pick();
    return made_.statements.size() - 1;
  }

  bool step() {
    const std::size_t a = pick();
    switch (below(13)) {
      case 0:
        return add(one_of(std::array{"torch.tanh($0)", "F.relu($0)", "torch.sin($0)", "$0 * 0.5 - 1", "F.gelu($0)"}),
                   {a});
      case 1:
        return add(one_of(std::array{"$0 + $1", "$0 * $1", "$0 - $1", "torch.maximum($0, $1)"}), {a, partner(a)});
      case 2:
      case 3:
        return product(a);
      case 4:
        return order(a);
      case 5:
        return reshape(a);
      case 6:
        return add(chance()   ? fmt::format("$0.unsqueeze({})", dim(a))
                   : chance() ? "$0[..., None]"
                              : "$0.squeeze()",
                   {a});
      case 7:
        return expand(a);
      case 8:
        return slice(a);
      case 9:
        return add(fmt::format("$0.{}(dim={}, keepdim={})", one_of(std::array{"sum", "mean", "amax"}), dim(a),
                               chance() ? "True" : "False"),
                   {a});
      case 10:
        return add(fmt::format(
                       fmt::runtime(one_of(std::array{"F.softmax($0, dim={})", "F.log_softmax($0, dim={})",
                                                      "torch.cat(($0, $0), dim={})", "torch.stack(($0, $0), dim={})"})),
                       dim(a)),
                   {a});
      case 11:
        return shape(a).empty() || add(fmt::format("F.layer_norm($0, ({},))", shape(a).back()), {a});
      default:
        return others(a);
    }
  }

  /// Returns a second operand for `a`: `a` itself, any statement, or an input of the shape of `a` with some extents 1.
  std::size_t partner(std::size_t a) {
    if (below(3) == 0) return pick();
    Shape other = shape(a);
    for (std::int64_t& e : other)
      if (below(3) == 0) e = 1;
    return chance() || other.empty() ? a : input(other);
  }

  bool product(std::size_t a) {
    const Shape& of = shape(a);
    if (of.empty()) return false;
    const std::int64_t k = of.back(), n = extent();
    if (of.size() == 3 && chance()) {
      const Shape batched = {of[0], k, n};
      return add(one_of(std::array{"torch.bmm($0, $1)", "$0 @ $1"}), {a, input(batched)});
    }
    switch (below(4)) {
      case 0:
        return add(fmt::format("nn.Linear({}, {})($0)", k, n), {a});
      case 1:
        return add("$0 @ $1.transpose(-1, -2)", {a, input({n, k})});
      case 2:
        return add("$0 @ $1", {a, input({k})});
      default:
        return add("torch.matmul($0, $1)", {a, input({k, n})});
    }
  }

  bool order(std::size_t a) {
    Shape dims(shape(a).size());
    std::iota(dims.begin(), dims.end(), 0);
    for (std::size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[below(i)]);
    if (chance()) return add(fmt::format("$0.transpose({}, {})", dim(a), dim(a)), {a});
    return !dims.empty() && add(fmt::format("$0.permute({})", list(dims)), {a});
  }

  bool reshape(std::size_t a) {
    Shape to = shape(a);
    if (to.empty() || below(5) == 0) return add("$0.reshape(-1)", {a});
    const std::size_t d = below(to.size());
    if (chance() && d + 1 < to.size()) {
      to[d] *= to[d + 1];
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    } else {
      std::int64_t factor = 1;
      for (const std::int64_t f : {2, 3, 4, 11, 43})
        if (to[d] % f == 0 && chance()) factor = f;
      to[d] /= factor;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(d + below(2)), factor);
    }
    return add(fmt::format("$0.reshape({})", list(to)), {a});
  }

  bool expand(std::size_t a) {
    Shape to = shape(a);
    if (std::ranges::count(to, 1) == 0) return false;
    for (std::int64_t& e : to)
      if (e == 1 && chance()) e = extent();
    return add(fmt::format("$0.expand({})", list(to)), {a});
  }

  bool slice(std::size_t a) {
    if (shape(a).empty()) return false;
    std::string index;
    for (std::int64_t d = dim(a); d > 0; --d) index += ":, ";
    return add(fmt::format("$0[{}{}]", index, one_of(std::array{"1:", "::2", ":-1", "0", "1::3", "-1"})), {a});
  }

  bool others(std::size_t a) {
    switch (below(4)) {
      case 0:
        return add(fmt::format("F.embedding(torch.randint(0, {0}, ({1}, 3)), torch.randn({0}, {2}))", 1 + extent(),
                               extent(), extent()));
      // The condition is an input. If it were computed, it might differ in the last bits, and both answers would be
      // right.
      case 1:
        return add(fmt::format("torch.where(torch.randn({0}) < 0, $0, -$0)", list(shape(a))), {a});
      case 2:
        return add(fmt::format("torch.randn({}) > 0.5", list(draw_shape())));
      default:
        return add(fmt::format("torch.arange({}) * 3", 1 + extent()));
    }
  }

  Rng rng_;
  RandomExpression made_;
  std::vector<ir::TensorType> types_;
};

}  // namespace

std::string RandomExpression::text() const {
  std::vector<bool> needed(statements.size(), false);
  for (const std::size_t output : outputs) needed[output] = true;
  for (std::size_t i = statements.size(); i-- > 0;)
    if (needed[i])
      for (const std::size_t arg : statements[i].args) needed[arg] = true;
  std::string text;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (!needed[i]) continue;
    text += fmt::format("t{} = ", i);
    const std::string& call = statements[i].text;
    for (std::size_t c = 0; c < call.size(); ++c)
      text += call[c] == '$' ? fmt::format("t{}", statements[i].args[static_cast<std::size_t>(call[++c] - '0')])
                             : std::string(1, call[c]);
    text += "; ";
  }
  std::vector<std::string> names;
  for (const std::size_t output : outputs) names.push_back(fmt::format("t{}", output));
  return text + (names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", ")));
}

RandomExpression random_expression(std::uint64_t seed, int steps) { return Generator(seed).run(steps); }

RandomExpression shrink(RandomExpression expression, const std::function<bool(const std::string&)>& fails) {
  const auto take = [&](RandomExpression smaller) {
    if (smaller.text() == expression.text() || !fails(smaller.text())) return false;
    expression = std::move(smaller);
    return true;
  };
  const auto once = [&] {
    for (std::size_t o = 0; expression.outputs.size() > 1 && o < expression.outputs.size(); ++o) {
      RandomExpression one = expression;
      one.outputs = {expression.outputs[o]};
      if (take(one)) return true;
    }
    for (std::size_t i = expression.statements.size(); i-- > 0;) {
      RandomExpression until = expression;
      until.outputs = {i};
      const auto type = type_of(until);
      if (!type || type->dtype != ir::DType::f32 || expression.statements[i].args.empty()) continue;
      RandomExpression given = expression;
      given.statements[i] = {fmt::format("torch.randn({})", list(type->shape)), {}};
      if (take(given)) return true;
    }
    std::set<std::int64_t> numbers;
    const std::regex number(R"(\b\d+\b)");
    const std::string text = expression.text();
    for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at)
      numbers.insert(std::stoll(at->str()));
    for (const std::int64_t from : numbers)
      for (const std::int64_t to : {1, 2, 3}) {
        if (to >= from) continue;
        RandomExpression smaller = expression;
        for (Statement& s : smaller.statements)
          s.text =
              std::regex_replace(s.text, std::regex(fmt::format(R"((^|[^$])\b{}\b)", from)), fmt::format("$01{}", to));
        if (type_of(smaller) && take(smaller)) return true;
      }
    return false;
  };
  while (once()) {
  }
  return expression;
}

std::vector<std::vector<double>> random_sources(const std::string& text) {
  const ir::torch::Graph graph = ir::torch::parse_expression(text);
  Rng rng(7);
  std::vector<std::vector<double>> sources(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::torch::Node& node = graph.nodes[i];
    if (node.kind != ir::torch::Node::Kind::input && node.kind != ir::torch::Node::Kind::parameter) continue;
    const bool whole = ir::is_integer(node.type.dtype);
    for (std::int64_t n = ir::element_count(node.type.shape); n > 0; --n)
      sources[i].push_back(whole ? std::floor(rng.uniform(node.source.fill.a, node.source.fill.b))
                                 : static_cast<double>(static_cast<float>(rng.uniform(-1, 1))));
  }
  return sources;
}

}  // namespace deplo::testing
