// A row is reduced by one block or one core, so the sum of a single long vector would leave all others idle.
//   s = sum(x, axis=-1) -> (1)   x: (100000000)   →   parts = x[(i * 390625) + j] -> (256, 390625)
//                                                     sums = sum(parts, axis=-1) -> (256, 1)
//                                                     s = sum(sums[i, na], axis=-1) -> (1)
// Fusion reads x through the views. PyTorch's CUDA reductions split a row in the same way
// (aten/src/ATen/native/cuda/Reduce.cuh, "global_reduce").
// A scan of few long lines becomes a scan of parts. Each part begins with the total of the parts before it. These
// totals are scanned in the same way:
//   y = scan(x) -> (100000)   →   within = scan(parts) -> (16, 6250)   totals = sum(parts, axis=-1) -> (16, 1)
//                                 ends = scan(totals[i, 0]) -> (16)    y = ends[i - 1] + within, after the first part
// This is Blelloch's scan with parts as leaves (Prefix sums and their applications, CMU-CS-90-190, 1990).
#include "rules/fusion/sum_parts.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/longest_chain.h"
#include "ir/tensor/emitter.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"

namespace deplo::rules::fusion {
namespace {

using ir::tensor::identity;
using ir::tensor::Node;

/// Lower bounds on the elements of a part, and on the number of parts. The parts must save more time than a launch
/// takes: 2 or 3 µs on a GPU, and somewhat more on a CPU. A block of a GPU reads 64 KiB in about 1 µs, a core reads 256
/// KiB in 20 µs.
std::int64_t least_part(const Target& target) { return target.cpu ? std::int64_t{1} << 16 : std::int64_t{1} << 14; }
std::int64_t fewest_parts(const Target& target) { return target.cpu ? 2 : 4; }
/// Two blocks per unit of a GPU: one waits for memory while the other one reduces.
std::int64_t blocks_wanted(const Target& target) { return target.cpu ? target.units : 2 * target.units; }

/// The number of independent chains of additions that fill the target. A thread of a CPU scans several lines at once
/// (blockify_launch.cpp). For a GPU, it is a quarter of the threads that a unit can hold; this was not measured.
std::int64_t lines_wanted(const Target& target) { return (target.cpu ? 4 : 512) * target.units; }
/// Lower bound on the elements of a part of a line, because the parts cost two more launches, and x is read twice. On a
/// CPU, the bound is 4 µs of additions in a chain. On a GPU, it is one cache line per thread.
std::int64_t least_line(const Target& target) { return target.cpu ? 4096 : 32; }

class SumParts {
 public:
  SumParts(const ir::tensor::Graph& graph, const Target& target, Decisions& decisions)
      : graph_(graph), target_(target), decisions_(decisions) {
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  ir::tensor::Graph run() {
    std::vector<int> at;  // for each node of the old graph: its number in the new one
    for (const Node& old : graph_.nodes) {
      Node node = old;
      for (int& arg : node.args) arg = at[static_cast<std::size_t>(arg)];
      if (node.as<ir::tensor::Scan>() != nullptr) {
        at.push_back(scan(std::move(node)));
        continue;
      }
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

  /// Is the argument a product of two tensors? The schedules of a matmul split such a sum themselves.
  bool is_contraction(const Node& reduction) const {
    const Node& arg = node(reduction.args[0]);
    const auto* product = arg.as<ir::tensor::Elementwise>();
    return product != nullptr && product->op == ir::Op::multiply && arg.args[0] != arg.args[1];
  }

  /// Do larger tensors depend on the result, as the rows of a softmax depend on their sums? They are swept in the row's
  /// block.
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
    const std::int64_t max_parts = std::min(blocks_wanted(target_) / rows, extent / least_part(target_));
    if (max_parts < fewest_parts(target_) || shape.size() >= max_rank ||
        (rows > 1 && (is_contraction(n) || is_swept(n.name, rows))))
      return 1;
    // Takes a divisor of the extent near the wanted number. Divisors whose parts consist of whole vectors are
    // preferred.
    std::int64_t parts = 1;
    for (const std::int64_t d : divisors(extent, (max_parts + 1) / 2, max_parts))
      if (parts == 1 || extent / d % target_.vector_lanes == 0) parts = d;
    return parts == 1 ? 1 : decide("sum_parts", n.name, parts);
  }

  std::int64_t decide(const char* decision, const std::string& name, std::int64_t parts) {
    return std::get<std::int64_t>(
        decisions_.take(decision, name, {deplo::Value{parts}, deplo::Value{std::int64_t{1}}}));
  }

  /// The number of parts of each line of a scan: enough to fill the target and to bound the rounding errors. If no
  /// number near the wanted one divides the line, the last part is padded.
  std::int64_t parts_of_line(const Node& scan) {
    const ir::Shape& shape = scan.type.shape;
    const std::int64_t extent = shape.back(), lines = std::max<std::int64_t>(ir::element_count(shape) / extent, 1);
    const ir::Op op = scan.as<ir::tensor::Scan>()->op;
    const bool rounds = ir::is_float(scan.type.dtype) && (op == ir::Op::add || op == ir::Op::multiply);
    const std::int64_t min_parts = rounds ? ceil_div(extent, ir::longest_chain) : 1;
    const std::int64_t wanted =
        std::max(min_parts, std::min(lines_wanted(target_) / lines, extent / least_line(target_)));
    if (wanted < 2 || shape.size() >= max_rank) return 1;
    std::int64_t parts = ceil_div(extent, ceil_div(extent, wanted));
    const std::vector<std::int64_t> whole =
        divisors(extent, std::max({min_parts, std::int64_t{2}, (wanted + 1) / 2}), 2 * wanted);
    const auto far = [&](std::int64_t count) { return std::abs(count - wanted); };
    if (!whole.empty()) parts = std::ranges::min(whole, {}, far);
    return min_parts > 1 ? parts : decide("scan_parts", scan.name, parts);
  }

  /// The lines of a scan as parts of `size` elements, with one more dimension. The end of the last part may be padded.
  /// The results of the padding are not used.
  int cut(const Node& whole, std::int64_t parts, std::int64_t size) {
    ir::Shape shape = whole.type.shape;
    const std::size_t part = shape.size() - 1;
    const std::int64_t extent = std::exchange(shape.back(), parts);
    std::vector<ir::Expr> index = identity(shape);
    index.back() = ir::tensor::coordinate(part) * size + ir::tensor::coordinate(part + 1);
    if (size * parts > extent) index.back() = ir::min(index.back(), extent - 1);
    shape.push_back(size);
    return view(whole.name + "_split", std::move(shape), std::move(index), whole.args[0]);
  }

  /// The scan of each line up to the end of each of its parts.
  int ends(const Node& whole, int parts) {
    ir::TensorType type = node(parts).type;
    type.shape.back() = 1;
    const ir::tensor::Reduction total{whole.as<ir::tensor::Scan>()->op, static_cast<int>(type.shape.size()) - 1};
    const int totals = add({fresh(whole.name + "_parts"), type, total, {parts}});
    type.shape.pop_back();
    std::vector<ir::Expr> index = identity(type.shape);
    index.emplace_back(0);
    const int in_order = view(whole.name + "_of_parts", type.shape, std::move(index), totals);
    return scan({fresh(whole.name + "_ends"), type, whole.op, {in_order}});
  }

  int scan(Node whole) {
    const std::int64_t extent = whole.type.shape.back(), parts = parts_of_line(whole), size = ceil_div(extent, parts);
    if (parts == 1) return add(std::move(whole));
    const int split = cut(whole, parts, size), ends = this->ends(whole, split);
    const ir::TensorType type = node(split).type;
    const ir::Expr part = ir::tensor::coordinate(type.shape.size() - 2);
    std::vector<ir::Expr> index = identity(node(ends).type.shape);
    index.back() = ir::Expr(ir::ExprOp::max, part - 1, 0);
    const int before = view(whole.name + "_before", type.shape, std::move(index), ends);
    const int within = add({fresh(whole.name + "_within"), type, whole.op, {split}});
    const int both = elementwise(whole.as<ir::tensor::Scan>()->op, whole.name + "_both", type, {before, within});
    const ir::tensor::Coordinate is_later{ir::less(0, part)};
    const int later = add({fresh(whole.name + "_later"), {ir::DType::boolean, type.shape}, is_later, {}});
    const int lines = elementwise(ir::Op::select, whole.name + "_lines", type, {later, both, within});
    index = identity(whole.type.shape);
    index.back() = part / size;
    index.push_back(part % size);
    return add({whole.name, whole.type, ir::tensor::IndexMap{{{0, std::move(index), 1}}}, {lines}});
  }

  int elementwise(ir::Op op, std::string name, const ir::TensorType& type, std::vector<int> args) {
    return add({fresh(std::move(name)), type, ir::tensor::Elementwise{op}, std::move(args)});
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
    std::vector<ir::Expr> index = identity(shape);
    index[d] = index[d] * size + index[d + 1];
    index.erase(index.begin() + axis + 1);
    const int split = view(whole.name + "_split", shape, std::move(index), source);
    shape[d + 1] = 1;
    const int reduced =
        add({fresh(whole.name + "_parts"), {whole.type.dtype, shape}, ir::tensor::Reduction{op, axis + 1}, {split}});
    shape.erase(shape.begin() + axis + 1);
    index = identity(shape);
    index.insert(index.begin() + axis + 1, 0);
    whole.args = {view(whole.name + "_of_parts", shape, std::move(index), reduced)};
    return add(std::move(whole));
  }

  static constexpr std::size_t max_rank = 8;  // as in Torch IR; splitting adds one dimension
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
