// Prints Tensor IR, and defines the coordinates in which its index maps are written.
#include "ir/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/match.h"
#include "core/text/text.h"

namespace deplo::ir::tensor {

Expr coordinate(std::size_t dimension) {
  static const auto* const variables = [] {
    auto* v = new std::vector<Expr>;
    for (char letter = 'i'; letter <= 'z'; ++letter) v->push_back(var(std::string(1, letter)));
    return v;
  }();
  CHECK(dimension < variables->size());
  return (*variables)[dimension];
}

Ranges coordinate_ranges(const Shape& shape) {
  Ranges ranges;
  ranges.reserve(shape.size());
  // An empty tensor has no coordinates. An upper bound of 0 keeps the interval valid for the simplifier.
  for (std::size_t d = 0; d < shape.size(); ++d)
    ranges.emplace_back(coordinate(d).name(), Interval{0, std::max<std::int64_t>(shape[d] - 1, 0)});
  return ranges;
}

namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string graph() {
    const auto inputs = std::count_if(graph_.nodes.begin(), graph_.nodes.end(), is_input);
    out_ = fmt::format("# Graph: {} nodes, {} inputs, {} outputs\ninputs:\n", graph_.nodes.size(), inputs,
                       graph_.outputs.size());
    for (const Node& n : graph_.nodes)
      if (is_input(n)) out_ += fmt::format("{}: {}\n", n.name, print(n.type));
    if (std::any_of(graph_.nodes.begin(), graph_.nodes.end(), is_constant)) out_ += "constants:\n";
    for (const Node& n : graph_.nodes) constant(n);
    for (const Node& n : graph_.nodes)
      if (!is_input(n) && !is_constant(n)) out_ += fmt::format("{} = {} -> {}\n", n.name, value(n), print(n.type));
    out_ += "outputs:\n";
    for (const int id : graph_.outputs) out_ += fmt::format("{}: {}\n", name(id), print(node(id).type));
    return std::move(out_);
  }

 private:
  static bool is_input(const Node& n) { return n.as<Input>() != nullptr; }
  static bool is_constant(const Node& n) { return n.as<Parameter>() != nullptr || n.as<Scalar>() != nullptr; }
  const Node& node(int id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  const std::string& name(int id) const { return node(id).name; }

  void constant(const Node& n) {
    if (n.as<Parameter>() != nullptr) out_ += fmt::format("{}: {}\n", n.name, print(n.type));
    if (const auto* s = n.as<Scalar>())
      out_ += fmt::format("{}: {} = {}\n", n.name, print(n.type), number(s->value, n.type.dtype));
  }

  // Prints a number as Python does: a float has a point or an exponent.
  static std::string number(double value, DType dtype) {
    if (dtype == DType::boolean) return value != 0 ? "True" : "False";
    if (is_integer(dtype)) return fmt::format("{:.0f}", value);
    std::string text = fmt::format("{}", value);
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }

  std::string value(const Node& n) const {
    return match(
        n.op,  //
        [&](const Elementwise& e) { return fmt::format("{}({})", ir::name(e.op), arguments(n)); },
        [&](const Coordinate& c) { return print(substitute(c.value, gathers(n, 0))); },
        [&](const Reduction& r) {
          const int rank = static_cast<int>(n.type.shape.size());
          return fmt::format("{}({}, axis={})", reduction_name(r.op), arguments(n), r.axis - rank);
        },
        [&](const Scan& s) { return fmt::format("scan({}, op={})", arguments(n), ir::name(s.op)); },
        [&](const IndexMap& m) { return branches(n, m); },  //
        [](const auto&) { return std::string(); });
  }

  static std::string_view reduction_name(Op op) {
    switch (op) {
      case Op::add:
        return "sum";
      case Op::multiply:
        return "prod";
      case Op::maximum:
        return "max";
      case Op::minimum:
        return "min";
      default:
        return ir::name(op);
    }
  }

  std::string arguments(const Node& n) const {
    return join(n.args, ", ", [&](int id) { return name(id); });
  }

  std::string branches(const Node& n, const IndexMap& m) const {
    const Substitution gathered = gathers(n, 1);
    std::string text;
    for (const IndexMap::Branch& b : m.branches) {
      const bool last = &b == &m.branches.back();
      if (!text.empty()) text += ' ';
      if (!last) text += fmt::format("where {}: ", print(b.condition));
      if (last && m.branches.size() > 1) text += "else: ";
      text += source(node(n.args[static_cast<std::size_t>(b.arg)]), b, gathered);
    }
    return text;
  }

  // g1 is printed as the element that it stands for: `indices[i, j]`.
  Substitution gathers(const Node& n, std::size_t first) const {
    Substitution values;
    for (std::size_t a = first; a < n.args.size(); ++a) {
      std::string index;
      for (std::size_t d = 0; d < n.type.shape.size(); ++d) index += (d == 0 ? "" : ", ") + coordinate(d).name();
      values.emplace_back(fmt::format("g{}", a - first + 1), var(fmt::format("{}[{}]", name(n.args[a]), index)));
    }
    return values;
  }

  static std::string source(const Node& from, const IndexMap::Branch& b, const Substitution& gathered) {
    std::string index;
    for (std::size_t d = 0; d < b.coordinates.size(); ++d) {
      const bool absent = from.type.shape[d] == 1 && b.coordinates[d].is_constant(0);
      index += (d == 0 ? "" : ", ") + (absent ? "na" : print(substitute(b.coordinates[d], gathered)));
    }
    return fmt::format("{}[{}]", from.name, index);
  }

  const Graph& graph_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).graph(); }

}  // namespace deplo::ir::tensor
