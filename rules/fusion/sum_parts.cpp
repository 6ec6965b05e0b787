// A row is reduced by one block, or one core: a sum of a whole vector would leave all others idle.
//   s = sum(x, axis=-1) -> (1)   x: (100000000)   →   parts = x[(i * 390625) + j] -> (256, 390625)
//                                                     sums = sum(parts, axis=-1) -> (256, 1)
//                                                     s = sum(sums[i, na], axis=-1) -> (1)
// Fusion reads x through the views. PyTorch's CUDA reductions split a row in the same way (aten/src/ATen/native/cuda/
// Reduce.cuh, "global_reduce").
#include "rules/fusion/sum_parts.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/cost/resources.h"

namespace deplo::rules::fusion {
namespace {

using ir::tensor::Node;

/// Elements of a part, and parts, at least: what the parts spare takes longer than a launch, 2 or 3 µs on a GPU and some
/// more on a CPU. A block of a GPU reads 64 KiB in about one, a core 256 KiB in 20.
std::int64_t least_part(const Target& target) { return target.cpu ? std::int64_t{1} << 16 : std::int64_t{1} << 14; }
std::int64_t fewest_parts(const Target& target) { return target.cpu ? 2 : 4; }
/// A block of a GPU waits for memory while another one reduces.
std::int64_t blocks_wanted(const Target& target) { return target.cpu ? target.units : 2 * target.units; }

class SumParts {
 public:
  SumParts(const ir::tensor::Graph& graph, const Target& target, Decisions& decisions)
      : graph_(graph), target_(target), decisions_(decisions) {
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  ir::tensor::Graph run() {
    std::vector<int> at;  // by node of the old graph
    for (const Node& old : graph_.nodes) {
      Node node = old;
      for (int& arg : node.args) arg = at[static_cast<std::size_t>(arg)];
      const std::int64_t parts = parts_of(node);
      at.push_back(parts > 1 ? split(std::move(node), parts) : add(std::move(node)));
    }
    for (const int output : graph_.outputs) result_.outputs.push_back(at[static_cast<std::size_t>(output)]);
    return std::move(result_);
  }

 private:
  int add(Node node) {
    result_.nodes.push_back(std::move(node));
    return static_cast<int>(result_.nodes.size()) - 1;
  }
  const Node& node(int id) const { return result_.nodes[static_cast<std::size_t>(id)]; }

  std::string fresh(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  /// Of a product of two tensors, which a matmul's schedules split.
  bool is_contraction(const Node& reduction) const {
    const Node& arg = node(reduction.args[0]);
    const auto* product = arg.as<ir::tensor::Elementwise>();
    return product != nullptr && product->op == ir::Op::multiply && arg.args[0] != arg.args[1];
  }

  /// Do larger tensors depend on the result, as the rows of a softmax on their sums? Their sweeps are in the row's block.
  bool is_swept(const std::string& name, std::int64_t rows) const {
    std::vector<bool> depends(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const auto is_one = [&](int arg) { return depends[static_cast<std::size_t>(arg)]; };
      depends[i] = node.name == name || std::ranges::any_of(node.args, is_one);
      if (depends[i] && ir::element_count(node.type.shape) > rows) return true;
    }
    return false;
  }

  std::int64_t parts_of(const Node& n) {
    const auto* reduction = n.as<ir::tensor::Reduction>();
    if (reduction == nullptr) return 1;
    const ir::Shape& shape = node(n.args[0]).type.shape;
    const std::int64_t extent = shape[static_cast<std::size_t>(reduction->axis)];
    const std::int64_t rows = std::max<std::int64_t>(ir::element_count(n.type.shape), 1);
    const std::int64_t most = std::min(blocks_wanted(target_) / rows, extent / least_part(target_));
    if (most < fewest_parts(target_) || shape.size() >= most_rank || (rows > 1 && (is_contraction(n) || is_swept(n.name, rows)))) return 1;
    // Divisors near what is wanted, those first whose parts are whole vectors.
    std::int64_t parts = 1;
    for (const std::int64_t d : divisors(extent, (most + 1) / 2, most))
      if (parts == 1 || extent / d % target_.vector_lanes == 0) parts = d;
    if (parts == 1) return 1;
    return std::get<std::int64_t>(
        decisions_.take("sum_parts", n.name, {deplo::Value{parts}, deplo::Value{std::int64_t{1}}}));
  }

  // The coordinates of a shape; 0 in dimensions of extent 1.
  static std::vector<ir::Expr> coordinates(const ir::Shape& shape) {
    std::vector<ir::Expr> result;
    for (std::size_t d = 0; d < shape.size(); ++d)
      result.push_back(shape[d] == 1 ? ir::Expr(0) : ir::tensor::coordinate(d));
    return result;
  }

  int view(const std::string& name, ir::Shape shape, std::vector<ir::Expr> index, int of) {
    return add(
        {fresh(name), {node(of).type.dtype, std::move(shape)}, ir::tensor::IndexMap{{{0, std::move(index), 1}}}, {of}});
  }

  int split(Node whole, std::int64_t parts) {
    const auto [op, axis] = *whole.as<ir::tensor::Reduction>();
    const auto d = static_cast<std::size_t>(axis);
    const int source = whole.args[0];
    ir::Shape shape = node(source).type.shape;
    const std::int64_t size = shape[d] / parts;
    shape[d] = parts;
    shape.insert(shape.begin() + axis + 1, size);
    std::vector<ir::Expr> index = coordinates(shape);
    index[d] = index[d] * size + index[d + 1];
    index.erase(index.begin() + axis + 1);
    const int split = view(whole.name + "_split", shape, std::move(index), source);
    shape[d + 1] = 1;
    const int reduced =
        add({fresh(whole.name + "_parts"), {whole.type.dtype, shape}, ir::tensor::Reduction{op, axis + 1}, {split}});
    shape.erase(shape.begin() + axis + 1);
    index = coordinates(shape);
    index.insert(index.begin() + axis + 1, 0);
    whole.args = {view(whole.name + "_of_parts", shape, std::move(index), reduced)};
    return add(std::move(whole));
  }

  static constexpr std::size_t most_rank = 8;  // as in Torch IR; a part is one dimension more
  const ir::tensor::Graph& graph_;
  const Target& target_;
  Decisions& decisions_;
  ir::tensor::Graph result_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

ir::tensor::Graph part_sums(const ir::tensor::Graph& graph, const Target& target, Decisions& decisions) {
  return SumParts(graph, target, decisions).run();
}

}  // namespace deplo::rules::fusion
