// Checks the rules of Tensor IR.
#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string_view>

#include "core/text/match.h"
#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor {
namespace {

/// Has a function for each operation of Tensor IR. The check ends at the first fault.
class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  std::string run() {
    for (std::size_t i = 0; i < graph_.nodes.size() && problem_.empty(); ++i) node(static_cast<int>(i));
    for (const int id : graph_.outputs)
      if (problem_.empty() && !is_node(id, static_cast<int>(graph_.nodes.size())))
        problem_ = fmt::format("output {}: expected a node", id);
    return std::move(problem_);
  }

 private:
  bool is_node(int id, int before) const { return id >= 0 && id < before; }
  const Node& at(int id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  const TensorType& arg(const Node& n, std::size_t a) const { return at(n.args[a]).type; }

  template <class... Args>
  bool require(bool holds, const Node& n, fmt::format_string<Args...> expected, Args&&... args) {
    if (!holds && problem_.empty())
      problem_ = fmt::format("{}: expected {}", n.name, fmt::format(expected, std::forward<Args>(args)...));
    return holds;
  }

  void node(int id) {
    const Node& n = at(id);
    if (n.name.empty() && problem_.empty()) problem_ = fmt::format("node {}: expected a name", id);
    require(names_.insert(n.name).second, n, "a unique name");
    for (const std::int64_t extent : n.type.shape) require(extent >= 0, n, "no negative extent, found {}", extent);
    for (const int a : n.args) require(is_node(a, id), n, "arguments that precede it, found {}", a);
    if (problem_.empty()) match(n.op, [&](const auto& op) { check(n, op); });
  }

  bool arity(const Node& n, std::size_t count) {
    return require(n.args.size() == count, n, "{} arguments, found {}", count, n.args.size());
  }

  void check(const Node& n, const Input&) { arity(n, 0); }
  void check(const Node& n, const Parameter&) { arity(n, 0); }
  void check(const Node& n, const Scalar&) {
    arity(n, 0);
    require(n.type.shape.empty(), n, "a scalar of rank 0, found {}", print(n.type));
  }

  void check(const Node& n, const Elementwise& e) {
    if (!require(!is_horizontal(e.op), n, "a scalar operation, found {}", ir::name(e.op))) return;
    if (!arity(n, static_cast<std::size_t>(ir::arity(e.op)))) return;
    for (const int a : n.args)
      require(at(a).as<Scalar>() != nullptr || at(a).type.shape == n.type.shape, n,
              "arguments of shape {} or scalars, found {}: {}", ir::print(n.type.shape), at(a).name, print(at(a).type));
    if (problem_.empty()) types(n, e.op);
  }

  void types(const Node& n, Op op) {
    if (op == Op::copy) return;
    if (op == Op::round_f16 || op == Op::round_bf16) return rounding(n, op == Op::round_f16 ? DType::f16 : DType::bf16);
    const bool logical = op == Op::logical_not || op == Op::logical_and || op == Op::logical_or;
    const DType result = n.type.dtype;
    if (gives_truth(op)) require(result == DType::boolean, n, "a bool result, found {}", torch_name(result));
    if (op == Op::select) require(arg(n, 0).dtype == DType::boolean, n, "a bool condition, found {}", print(arg(n, 0)));
    const std::size_t first = op == Op::select ? 1 : 0;
    const DType wanted = logical ? DType::boolean : gives_truth(op) ? arg(n, 0).dtype : result;
    for (std::size_t a = first; a < n.args.size(); ++a)
      require(arg(n, a).dtype == wanted, n, "arguments of {}, found {}: {}", torch_name(wanted), at(n.args[a]).name,
              print(arg(n, a)));
  }

  void rounding(const Node& n, DType to) {
    require(n.type.dtype == to, n, "a result of {}, found {}", torch_name(to), print(n.type));
    require(arg(n, 0).dtype == DType::f32, n, "an argument of float32, found {}", print(arg(n, 0)));
  }

  void check(const Node& n, const Coordinate& c) {
    if (!variables(n, c.value, true, 0)) return;
    require(!is_float(n.type.dtype), n, "integers or bool, found {}", print(n.type));
    if (n.type.dtype != DType::boolean || element_count(n.type.shape) == 0 || !n.args.empty()) return;
    const std::optional<Interval> range = bounds(c.value, coordinate_ranges(n.type.shape));
    require(range && range->low >= 0 && range->high <= 1, n, "a condition, found {}", print(c.value));
  }

  void check(const Node& n, const Reduction& r) {
    if (!arity(n, 1)) return;
    Shape shape = arg(n, 0).shape;
    if (!require(r.axis >= 0 && r.axis < static_cast<int>(shape.size()), n, "an axis of {}, found {}", ir::print(shape),
                 r.axis))
      return;
    shape[static_cast<std::size_t>(r.axis)] = 1;
    require(neutral(r.op).has_value(), n, "an operation with a neutral element, found {}", ir::name(r.op));
    require(n.type == TensorType{arg(n, 0).dtype, shape}, n, "the type {} of {} with axis {} collapsed, found {}",
            ir::print(shape), print(arg(n, 0)), r.axis, print(n.type));
  }

  void check(const Node& n, const Scan& s) {
    if (!arity(n, 1)) return;
    require(!n.type.shape.empty(), n, "a dimension to scan along, found {}", print(n.type));
    require(neutral(s.op).has_value(), n, "an operation with a neutral element, found {}", ir::name(s.op));
    require(n.type == arg(n, 0), n, "the type {} of its argument, found {}", print(arg(n, 0)), print(n.type));
  }

  void check(const Node& n, const IndexMap& m) {
    if (!require(!m.branches.empty(), n, "a branch")) return;
    require(m.branches.back().condition.is_constant(1), n, "a last branch without a condition, found {}",
            print(m.branches.back().condition));
    for (const IndexMap::Branch& b : m.branches)
      if (problem_.empty()) branch(n, b);
  }

  void branch(const Node& n, const IndexMap::Branch& b) {
    if (!require(b.arg >= 0 && b.arg < static_cast<int>(n.args.size()), n, "a branch of an argument, found {}", b.arg))
      return;
    const TensorType& from = arg(n, static_cast<std::size_t>(b.arg));
    require(from.dtype == n.type.dtype, n, "an argument of {}, found {}", torch_name(n.type.dtype), print(from));
    if (!require(b.coordinates.size() == from.shape.size(), n, "{} coordinates, found {}", from.shape.size(),
                 b.coordinates.size()))
      return;
    variables(n, b.condition, false);
    for (std::size_t d = 0; d < b.coordinates.size(); ++d)
      if (variables(n, b.coordinates[d], true)) in_range(n, b.coordinates[d], from.shape[d]);
  }

  void in_range(const Node& n, const Expr& e, std::int64_t extent) {
    if (element_count(n.type.shape) == 0) return;
    const Ranges ranges = coordinate_ranges(n.type.shape);
    const std::optional<Interval> range = bounds(e, ranges);
    if (range && range->low >= 0 && range->high < extent) return;
    require(simplify(less(e, extent), ranges).is_constant(1) && simplify(less(-1, e), ranges).is_constant(1), n,
            "a coordinate from 0 to {}, found {}", extent - 1, print(e));
  }

  // Checks that the expression names only coordinates of the result and, if `gathers`, values of arguments: g1 is the
  // value of argument `first`.
  bool variables(const Node& n, const Expr& e, bool gathers, std::size_t first = 1) {
    for (const std::string& name : ir::variables(e))
      if (!is_coordinate(name, n.type.shape.size()) &&
          !require(gathers && is_gather(n, name, first), n, "a coordinate, found {}", name))
        return false;
    return true;
  }

  static bool is_coordinate(const std::string& name, std::size_t rank) {
    return name.size() == 1 && name[0] >= 'i' && static_cast<std::size_t>(name[0] - 'i') < rank;
  }

  bool is_gather(const Node& n, std::string_view name, std::size_t first) {
    std::size_t a = 0;
    if (name.empty() || name.front() != 'g') return false;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), a);
    if (error != std::errc() || end != name.data() + name.size() || a < 1) return false;
    a += first - 1;
    if (a >= n.args.size()) return false;
    // Indices that select an element are i32. Integer arithmetic is done in the type of the result.
    const bool wide = n.as<Coordinate>() != nullptr && n.type.dtype == DType::i64;
    const TensorType wanted{wide ? DType::i64 : DType::i32, n.type.shape};
    return require(arg(n, a) == wanted, n, "indices {}, found {}", print(wanted), print(arg(n, a)));
  }

  const Graph& graph_;
  std::set<std::string_view> names_;
  std::string problem_;
};

}  // namespace

std::string verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace deplo::ir::tensor
