// Composes the graph in one pass. Each node is rebuilt from the new nodes of its arguments, or replaced by an existing
// node.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/text/match.h"
#include "ir/types/integers.h"
#include "rules/decompose/coordinates.h"
#include "rules/decompose/decompose.h"
#include "rules/decompose/equal_nodes.h"
#include "rules/decompose/read_through.h"
#include "rules/decompose/transposition.h"

namespace deplo::rules {
namespace {

using ir::DType;
using ir::Expr;
using ir::Op;
using ir::Shape;
namespace tensor = ir::tensor;
using tensor::identity;
using tensor::Node;

bool is_given(const Node& n) { return n.as<tensor::Input>() != nullptr || n.as<tensor::Parameter>() != nullptr; }

// Marks the nodes that `roots` need, the roots themselves, and all inputs.
std::vector<bool> needed(const tensor::Graph& graph, const std::vector<int>& roots) {
  std::vector<bool> keep(graph.nodes.size(), false);
  for (const int r : roots) keep[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (graph.nodes[i].as<tensor::Input>() != nullptr) keep[i] = true;
    if (!keep[i]) continue;
    for (const int a : graph.nodes[i].args) keep[static_cast<std::size_t>(a)] = true;
  }
  return keep;
}

/// Composes a graph, with one function for each kind of node. All functions add nodes to one graph, in which equal
/// nodes are merged.
class Composer {
 public:
  explicit Composer(const tensor::Graph& graph) : graph_(graph), equal_(graph.nodes.size()) {
    result_.nodes.reserve(graph.nodes.size());
  }

  tensor::Graph run() {
    const std::vector<bool> keep = needed(graph_, graph_.outputs);
    at_.assign(graph_.nodes.size(), -1);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (keep[i]) at_[i] = compose(graph_.nodes[i]);
    for (const int o : graph_.outputs) output(o);
    return compacted();
  }

 private:
  const Node& node(int id) const { return result_.nodes[static_cast<std::size_t>(id)]; }

  int compose(const Node& old) {
    Node n{old.name, old.type, old.op, old.args};
    for (int& a : n.args) a = at_[static_cast<std::size_t>(a)];
    if (is_given(n)) return append(std::move(n));
    if (n.as<tensor::Elementwise>() != nullptr) return elementwise(std::move(n));
    if (n.as<tensor::IndexMap>() != nullptr) return map(std::move(n));
    if (n.as<tensor::Coordinate>() != nullptr) return coordinate(std::move(n));
    // A reduction over a single element is that element.
    if (n.as<tensor::Reduction>() != nullptr && node(n.args[0]).type == n.type) return n.args[0];
    if (const std::optional<int> reduced = with_columns_last(n)) return *reduced;
    const bool sums = n.as<tensor::Reduction>() != nullptr && n.as<tensor::Reduction>()->op == Op::add;
    const auto* summed = sums ? node(n.args[0]).as<tensor::Elementwise>() : nullptr;
    const bool sums_products = summed != nullptr && summed->op == Op::multiply;
    const int id = intern(std::move(n));
    if (sums_products) products_.insert(id);
    return id;
  }

  int append(Node n) {
    result_.nodes.push_back(std::move(n));
    return static_cast<int>(result_.nodes.size()) - 1;
  }

  int intern(Node n) {
    if (const std::optional<int> found = equal_.find(result_, n)) return *found;
    const int id = append(std::move(n));
    equal_.insert(node(id), id);
    return id;
  }

  // Returns the Scalar that the node equals everywhere; nullopt if there is none.
  std::optional<int> uniform(int id) const {
    const Node& n = node(id);
    if (n.as<tensor::Scalar>() != nullptr) return id;
    const auto* e = n.as<tensor::Elementwise>();
    if (e == nullptr || e->op != Op::copy || node(n.args[0]).as<tensor::Scalar>() == nullptr) return std::nullopt;
    return n.args[0];
  }

  int elementwise(Node n) {
    for (int& a : n.args) a = uniform(a).value_or(a);
    if (const std::optional<int> behind = before_transposition(n)) return *behind;
    return elementwise_in_order(std::move(n));
  }

  int elementwise_in_order(Node n) {
    const Op op = n.as<tensor::Elementwise>()->op;
    for (int& a : n.args) a = uniform(a).value_or(a);
    const auto is_scalar = [&](int a) { return node(a).as<tensor::Scalar>() != nullptr; };
    if (std::all_of(n.args.begin(), n.args.end(), is_scalar))
      if (const std::optional<int> scalar = fold(n, op)) return fill(*scalar, std::move(n));
    // A choice between integers whose condition is known, such as whether a shift leaves any bits. A choice between
    // floats stays, so that scores under a mask that hides all of them are still recognized as an attention's.
    if (const auto* c = as_coordinate(n.args[0]);
        op == Op::select && ir::is_integer(n.type.dtype) && c != nullptr && c->value.kind() == Expr::Kind::constant) {
      const int chosen = n.args[c->value.value() != 0 ? 1 : 2];
      return is_scalar(chosen) ? fill(chosen, std::move(n)) : chosen;
    }
    if (op == Op::copy && node(n.args[0]).type == n.type) return n.args[0];
    if (n.args.size() == 2 && ir::is_commutative(op) && is_scalar(n.args[0])) std::swap(n.args[0], n.args[1]);
    if (std::optional<Expr> value = of_coordinates(result_, n)) {
      n.op = tensor::Coordinate{std::move(*value)};
      n.args.clear();
    }
    const bool of_product = std::ranges::any_of(n.args, [&](int a) { return products_.contains(a); });
    const int id = intern(std::move(n));
    if (of_product) products_.insert(id);
    return id;
  }

  // Applies an operation before its argument's transposition if the transposition would separate the rows and columns
  // of a product: relu(conv[i, l, j, k]) → relu(conv)[i, l, j, k]. nullopt if there is no such argument. If several
  // arguments are products in different orders, the first one determines the order, and the others are read in it.
  std::optional<int> before_transposition(const Node& n) {
    for (const int arg : n.args) {
      const Node view = node(arg);
      const auto inverse = parting_inverse(result_, view);
      if (!inverse || !products_.contains(view.args[0])) continue;
      const Shape before = node(view.args[0]).type.shape;
      Node moved{fresh(n.name + "_before"), {n.type.dtype, before}, n.op, n.args};
      for (int& a : moved.args)
        if (node(a).as<tensor::Scalar>() == nullptr)
          a = map({fresh(n.name + "_read"), {node(a).type.dtype, before}, *inverse, {a}});
      return map({n.name, n.type, view.op, {elementwise_in_order(std::move(moved))}});
    }
    return std::nullopt;
  }

  // Reduces windows of a product along the last dimension so that the product's columns stay last: the pooling of a
  // convolution has its channels last, too. nullopt for other reductions.
  std::optional<int> with_columns_last(const Node& n) {
    const auto* reduction = n.as<tensor::Reduction>();
    if (reduction == nullptr || static_cast<std::size_t>(reduction->axis) + 1 != n.type.shape.size())
      return std::nullopt;
    const Node windows = node(n.args[0]);
    const auto from = walks_columns(result_, windows, products_);
    if (!from || *from + 2 >= n.type.shape.size()) return std::nullopt;
    Shape shape = windows.type.shape;
    tensor::IndexMap late = with_columns_late(*windows.as<tensor::IndexMap>(), shape, *from);
    const int read =
        intern({fresh(windows.name + "_late"), {windows.type.dtype, shape}, std::move(late), windows.args});
    shape.back() = 1;
    const int reduced = intern({fresh(n.name + "_late"), {n.type.dtype, shape}, n.op, {read}});
    products_.insert(reduced);
    Coordinates back = identity(n.type.shape);
    std::rotate(back.begin() + static_cast<std::ptrdiff_t>(*from),
                back.begin() + static_cast<std::ptrdiff_t>(*from) + 1, back.end() - 1);
    return map({n.name, n.type, tensor::IndexMap{{{0, std::move(back), 1}}}, {reduced}});
  }

  // Returns the Scalar that an operation on Scalars gives; nullopt if the result is NaN (0 / 0), which the text cannot
  // express.
  std::optional<int> fold(const Node& n, Op op) {
    std::vector<double> args;
    for (const int a : n.args) args.push_back(node(a).as<tensor::Scalar>()->value);
    const bool integer = ir::is_integer(n.type.dtype);
    double value = integer ? ir::apply_integer(op, args, n.type.dtype) : ir::apply(op, args);
    if (std::isnan(value)) return std::nullopt;
    if (integer) value = ir::to_integer(value, node(n.args.back()).type.dtype, n.type.dtype);
    if (n.type.dtype == DType::boolean) value = value != 0 ? 1 : 0;
    const std::string name = n.type.shape.empty() ? n.name : fresh(n.name + "_value");
    return intern({name, {n.type.dtype, {}}, tensor::Scalar{value}, {}});
  }

  // Returns a node of n's type whose elements all equal the Scalar.
  int fill(int scalar, Node n) {
    if (n.type.shape.empty()) return scalar;
    n.op = tensor::Elementwise{Op::copy};
    n.args = {scalar};
    return intern(std::move(n));
  }

  // Returns the node if it is an expression of coordinates alone, otherwise nullptr.
  const tensor::Coordinate* as_coordinate(int id) const {
    return node(id).args.empty() ? node(id).as<tensor::Coordinate>() : nullptr;
  }

  // If all arguments are expressions of coordinates, the result is one, too: arange(n) // 2.
  int coordinate(Node n) {
    ir::Substitution known;
    for (std::size_t a = 0; a < n.args.size(); ++a)
      if (const auto* c = as_coordinate(n.args[a])) known.emplace_back("g" + std::to_string(a + 1), c->value);
    if (!known.empty() && known.size() == n.args.size()) {
      const Expr value = ir::substitute(n.as<tensor::Coordinate>()->value, known);
      n.op = tensor::Coordinate{ir::simplify(value, tensor::coordinate_ranges(n.type.shape))};
      n.args.clear();
    }
    return intern(std::move(n));
  }

  // Returns the index of a gather if it is constant or computed from coordinates: embedding(weight, arange(n)) is a
  // slice. nullopt otherwise.
  std::optional<Expr> known_index(int index) const {
    if (const auto* c = as_coordinate(index)) return c->value;
    const std::optional<int> scalar = uniform(index);
    if (!scalar) return std::nullopt;
    return Expr(static_cast<std::int64_t>(node(*scalar).as<tensor::Scalar>()->value));
  }

  // Substitutes the known indices into the coordinates. Returns false if no index is known.
  bool resolve(Node& n) const {
    ir::Substitution values;
    std::vector<int> args = {n.args[0]};
    for (std::size_t a = 1; a < n.args.size(); ++a) {
      const std::optional<Expr> known = known_index(n.args[a]);
      if (!known) args.push_back(n.args[a]);
      values.emplace_back("g" + std::to_string(a), known ? *known : ir::var("g" + std::to_string(args.size() - 1)));
    }
    if (args.size() == n.args.size()) return false;
    tensor::IndexMap map = *n.as<tensor::IndexMap>();
    for (Expr& e : map.branches.front().coordinates)
      e = ir::simplify(ir::substitute(e, values), tensor::coordinate_ranges(n.type.shape));
    n.op = std::move(map);
    n.args = std::move(args);
    return true;
  }

  int map(Node n) {
    const auto& branches = n.as<tensor::IndexMap>()->branches;
    const bool gather = gathers(*n.as<tensor::IndexMap>());
    if (gather && (branches.size() > 1 || branches.front().arg != 0)) return intern(std::move(n));
    if (gather && resolve(n)) return map(std::move(n));
    if (!gather && repeats_transposed_rows(result_, n)) return intern(std::move(n));
    const std::vector<Read> reads = read_through(result_, n);
    if (reads.size() == 1) {
      const Read& only = reads.front();
      if (const auto scalar = uniform(only.source)) return fill(*scalar, std::move(n));
      if (is_identity(n, only)) return only.source;
      if (const auto* c = as_coordinate(only.source); c != nullptr && !gather) {
        n.op = tensor::Coordinate{at(c->value, only.coordinates, tensor::coordinate_ranges(n.type.shape))};
        n.args.clear();
        return intern(std::move(n));
      }
    }
    // The indices of a gather follow its source in the arguments.
    std::vector<int> args = gather ? std::move(n.args) : std::vector<int>{};
    if (gather) args.front() = reads.front().source;
    tensor::IndexMap composed;
    for (const Read& r : reads) composed.branches.push_back({position(r.source, args), r.coordinates, r.condition});
    n.op = std::move(composed);
    n.args = std::move(args);
    return intern(std::move(n));
  }

  bool is_identity(const Node& n, const Read& read) const {
    return node(read.source).type == n.type && read.coordinates == identity(n.type.shape);
  }

  static int position(int source, std::vector<int>& args) {
    const auto found = std::find(args.begin(), args.end(), source);
    if (found == args.end()) return args.push_back(source), static_cast<int>(args.size()) - 1;
    return static_cast<int>(found - args.begin());
  }

  // An output must be computed, so that a kernel writes it: an input, a parameter or a Scalar is copied. The node takes
  // the output's name, unless it already is another output.
  void output(int old) {
    const std::string& wanted = graph_.nodes[static_cast<std::size_t>(old)].name;
    int id = at_[static_cast<std::size_t>(old)];
    Node& source = result_.nodes[static_cast<std::size_t>(id)];
    if (tensor::is_leaf(source)) {
      if (!is_given(source) && source.name == wanted) source.name = fresh(wanted + "_value");
      id = intern({fresh(wanted), source.type, tensor::Elementwise{Op::copy}, {id}});
    }
    const bool taken = std::find(result_.outputs.begin(), result_.outputs.end(), id) != result_.outputs.end();
    if (!taken && !has(wanted)) result_.nodes[static_cast<std::size_t>(id)].name = wanted;
    result_.outputs.push_back(id);
  }

  bool has(const std::string& name) const {
    return std::any_of(result_.nodes.begin(), result_.nodes.end(), [&](const Node& n) { return n.name == name; });
  }
  std::string fresh(std::string name) const {
    while (has(name)) name += "_copy";
    return name;
  }

  // A view that is removed passes its name to its source: `linear = linear_reduce[i, na, j]`.
  void pass_names_on(const std::vector<bool>& keep) {
    for (std::size_t i = 0; i < result_.nodes.size(); ++i) {
      const Node& view = result_.nodes[i];
      if (keep[i] || view.as<tensor::IndexMap>() == nullptr || view.args.size() != 1) continue;
      const auto source = static_cast<std::size_t>(view.args[0]);
      if (keep[source] && result_.nodes[source].name.starts_with(view.name + "_"))
        result_.nodes[source].name = view.name;
    }
  }

  tensor::Graph compacted() {
    const std::vector<bool> keep = needed(result_, result_.outputs);
    pass_names_on(keep);
    std::vector<int> renumbered(result_.nodes.size(), -1);
    tensor::Graph graph;
    graph.nodes.reserve(result_.nodes.size());
    for (std::size_t i = 0; i < result_.nodes.size(); ++i) {
      if (!keep[i]) continue;
      Node& n = result_.nodes[i];
      for (int& a : n.args) a = renumbered[static_cast<std::size_t>(a)];
      renumbered[i] = static_cast<int>(graph.nodes.size());
      graph.nodes.push_back(std::move(n));
    }
    for (const int o : result_.outputs) graph.outputs.push_back(renumbered[static_cast<std::size_t>(o)]);
    return graph;
  }

  const tensor::Graph& graph_;
  tensor::Graph result_;
  std::vector<int> at_;  // the new node of each old node
  EqualNodes equal_;
  std::set<int> products_;  // nodes that are sums of products, or operations on them
};

}  // namespace

tensor::Graph compose(const tensor::Graph& graph) { return Composer(graph).run(); }

}  // namespace deplo::rules
