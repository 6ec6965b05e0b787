// Evaluates Tensor IR, in double or in another arithmetic.
#include "ir/tensor/evaluate.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/text/match.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/types/integers.h"

namespace deplo::ir::tensor {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 27;  // 1 GiB of doubles
constexpr std::size_t gather_slots = 32;                      // slot of g<a> is gather_slots + a

// An index expression in postfix order over numbered slots, so that evaluation looks up no names and follows no
// pointers.
class Code {
 public:
  explicit Code(const Expr& e) { compile(e); }

  std::int64_t run(const std::vector<std::int64_t>& slots) {
    std::size_t top = 0;
    for (const Step& s : steps_) {
      if (s.kind == Expr::Kind::binary) {
        --top;
        stack_[top - 1] = fold(s.op, stack_[top - 1], stack_[top]);
      } else {
        stack_[top++] = s.kind == Expr::Kind::constant ? s.value : slots[static_cast<std::size_t>(s.value)];
      }
    }
    return stack_[0];
  }

 private:
  struct Step {
    Expr::Kind kind;
    ExprOp op;
    std::int64_t value;  // the value of a constant, or the slot of a variable
  };

  void compile(const Expr& e) {
    if (e.kind() == Expr::Kind::binary) {
      compile(e.lhs());
      compile(e.rhs());
      steps_.push_back({e.kind(), e.op(), 0});
    } else {
      steps_.push_back({e.kind(), {}, e.kind() == Expr::Kind::constant ? e.value() : slot(e.name())});
    }
    stack_.resize(steps_.size());
  }

  static std::int64_t slot(const std::string& name) {
    if (name.size() == 1) return name[0] - 'i';
    std::int64_t arg = 0;
    std::from_chars(name.data() + 1, name.data() + name.size(), arg);
    return static_cast<std::int64_t>(gather_slots) + arg;
  }

  std::vector<Step> steps_;
  std::vector<std::int64_t> stack_;
};

// Calls each(element) for the elements in order; `slots` holds the coordinates of the element.
template <class F>
void for_each_element(const Shape& shape, std::vector<std::int64_t>& slots, F&& each) {
  const std::int64_t count = element_count(shape);
  for (std::int64_t element = 0; element < count; ++element) {
    each(static_cast<std::size_t>(element));
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++slots[d] < shape[d]) break;
      slots[d] = 0;
    }
  }
}

using Values = std::vector<double>;

class Evaluator {
 public:
  Evaluator(const Graph& graph, const std::vector<Values>& sources, const Arithmetic& arithmetic)
      : graph_(graph), sources_(sources), arithmetic_(arithmetic) {
    uses_.assign(graph.nodes.size(), 0);
    for (const Node& n : graph.nodes)
      for (const int a : n.args) ++uses_[static_cast<std::size_t>(a)];
    for (const int o : graph.outputs) ++uses_[static_cast<std::size_t>(o)];
  }

  std::vector<Values> run() {
    values_.resize(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& n = graph_.nodes[i];
      if (element_count(n.type.shape) > max_elements)
        throw Error(fmt::format("{}: expected at most {} elements, found {}", n.name, max_elements, print(n.type)));
      values_[i] = match(n.op, [&](const auto& op) { return compute(n, op, i); });
      for (const int a : n.args)
        if (--uses_[static_cast<std::size_t>(a)] == 0) Values().swap(values_[static_cast<std::size_t>(a)]);
    }
    std::vector<Values> outputs;
    for (const int o : graph_.outputs) outputs.push_back(values_[static_cast<std::size_t>(o)]);
    return outputs;
  }

 private:
  const Node& node(int id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  const Values& values(int id) const { return values_[static_cast<std::size_t>(id)]; }
  static std::size_t size(const Node& n) { return static_cast<std::size_t>(element_count(n.type.shape)); }

  Values given(const Node& n, std::size_t i) const {
    CHECK(i < sources_.size() && sources_[i].size() == size(n));
    return sources_[i];
  }
  Values compute(const Node& n, const Input&, std::size_t i) const { return given(n, i); }
  Values compute(const Node& n, const Parameter&, std::size_t i) const { return given(n, i); }
  Values compute(const Node& n, const Scalar& s, std::size_t) const { return {constant(s.value, n.type.dtype)}; }

  double constant(double value, DType dtype) const { return is_float(dtype) ? arithmetic_.constant(value) : value; }
  double convert(double v, DType from, DType to) const {
    if (to == DType::boolean) return v != 0 ? 1 : 0;
    if (is_integer(to)) return is_float(from) ? arithmetic_.integer(v, to) : to_integer(v, from, to);
    const double value = is_float(from) ? v : arithmetic_.constant(v);
    return to == DType::f32 ? arithmetic_.stored(value, to) : value;
  }
  double calculate(Op op, std::span<const double> args, DType dtype) const {
    if (is_integer(dtype)) return apply_integer(op, args, dtype);
    double result = 0;
    const auto at = [&](std::size_t i) { return i < args.size() ? &args[i] : nullptr; };
    // comparisons are the same in every arithmetic
    const Arithmetic& arithmetic = is_float(dtype) ? arithmetic_ : reals();
    arithmetic.apply(op, 1, &result, at(0), at(1), at(2));
    return result;
  }

  Values compute(const Node& n, const Elementwise& e, std::size_t) const {
    Values result(size(n));
    std::vector<double> args(n.args.size());
    const bool converts = e.op == Op::copy && node(n.args[0]).type.dtype != n.type.dtype;
    for (std::size_t k = 0; k < result.size(); ++k) {
      for (std::size_t a = 0; a < args.size(); ++a) args[a] = values(n.args[a])[values(n.args[a]).size() == 1 ? 0 : k];
      result[k] =
          converts ? convert(args[0], node(n.args[0]).type.dtype, n.type.dtype) : calculate(e.op, args, n.type.dtype);
    }
    return result;
  }

  Values compute(const Node& n, const Coordinate& c, std::size_t) const {
    Values result(size(n));
    Code code(c.value);
    std::vector<std::int64_t> slots(gather_slots + 1 + n.args.size());
    for_each_element(n.type.shape, slots, [&](std::size_t k) {
      for (std::size_t a = 0; a < n.args.size(); ++a)
        slots[gather_slots + 1 + a] = static_cast<std::int64_t>(values(n.args[a])[k]);
      result[k] = static_cast<double>(code.run(slots));
    });
    return result;
  }

  Values compute(const Node& n, const Reduction& r, std::size_t) const {
    const Shape& from = node(n.args[0]).type.shape;
    const auto axis = static_cast<std::size_t>(r.axis);
    std::size_t inner = 1;
    for (std::size_t d = axis + 1; d < from.size(); ++d) inner *= static_cast<std::size_t>(from[d]);
    const auto extent = static_cast<std::size_t>(from[axis]);
    Values result(size(n), constant(*neutral(r.op), n.type.dtype));
    for (std::size_t k = 0; k < values(n.args[0]).size(); ++k) {
      double& total = result[k / (inner * extent) * inner + k % inner];
      total = calculate(r.op, std::array{total, values(n.args[0])[k]}, n.type.dtype);
    }
    return result;
  }

  Values compute(const Node& n, const Scan& s, std::size_t) const {
    Values result = values(n.args[0]);
    const auto extent = static_cast<std::size_t>(n.type.shape.back());
    for (std::size_t k = 0; k < result.size(); ++k)
      if (k % extent != 0) result[k] = calculate(s.op, std::array{result[k - 1], result[k]}, n.type.dtype);
    return result;
  }

  Values compute(const Node& n, const IndexMap& m, std::size_t) const {
    std::vector<Code> conditions, offsets;
    for (const IndexMap::Branch& b : m.branches) {
      const std::vector<std::int64_t> strides = row_major_strides(from(n, b).type.shape);
      Expr offset = 0;
      for (std::size_t d = 0; d < strides.size(); ++d) offset = offset + b.coordinates[d] * strides[d];
      conditions.emplace_back(b.condition);
      offsets.emplace_back(offset);
    }
    Values result(size(n));
    std::vector<std::int64_t> slots(gather_slots + n.args.size());
    const std::vector<std::size_t> gathered = gathers(m, n.args.size());
    for_each_element(n.type.shape, slots, [&](std::size_t k) {
      for (const std::size_t a : gathered) slots[gather_slots + a] = static_cast<std::int64_t>(values(n.args[a])[k]);
      std::size_t b = 0;
      while (conditions[b].run(slots) == 0) ++b;
      result[k] = values(n.args[static_cast<std::size_t>(m.branches[b].arg)])
                      .at(static_cast<std::size_t>(offsets[b].run(slots)));
    });
    return result;
  }

  // Positions of the arguments whose values are coordinates.
  static std::vector<std::size_t> gathers(const IndexMap& m, std::size_t args) {
    std::vector<std::size_t> found;
    const auto gathers_by = [&](std::size_t a) {
      for (const IndexMap::Branch& b : m.branches)
        for (const Expr& e : b.coordinates)
          if (depends_on(e, fmt::format("g{}", a))) return true;
      return false;
    };
    for (std::size_t a = 1; a < args; ++a)
      if (gathers_by(a)) found.push_back(a);
    return found;
  }
  const Node& from(const Node& n, const IndexMap::Branch& b) const {
    return node(n.args[static_cast<std::size_t>(b.arg)]);
  }

  const Graph& graph_;
  const std::vector<Values>& sources_;
  const Arithmetic& arithmetic_;
  std::vector<Values> values_;
  std::vector<int> uses_;
};

}  // namespace

std::vector<std::vector<double>> evaluate(const Graph& graph, const std::vector<std::vector<double>>& sources) {
  return evaluate(graph, sources, reals());
}

std::vector<std::vector<double>> evaluate(const Graph& graph, const std::vector<std::vector<double>>& sources,
                                          const Arithmetic& arithmetic) {
  return Evaluator(graph, sources, arithmetic).run();
}

}  // namespace deplo::ir::tensor
