#include "ir/torch/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "core/text/one_of.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

/// A range of integers. The ends are doubles, which are exact near the limits of 32 bits; only much larger ends are
/// rounded.
struct Range {
  double low = 0, high = 0;
};
constexpr Range of_i32{-0x1p31, 0x1p31 - 1}, of_i64{-0x1p63, 0x1p63}, of_truth{0, 1};

// Returns the range of an input's values.
Range of_type(DType dtype) {
  const double end = std::exp2(width(dtype));
  if (is_narrow_integer(dtype)) return is_unsigned(dtype) ? Range{0, end - 1} : Range{-end / 2, end / 2 - 1};
  return of_i32;
}
bool is_within(const Range& inner, const Range& outer) { return inner.low >= outer.low && inner.high <= outer.high; }
Range unite(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
Range operator+(const Range& a, const Range& b) { return {a.low + b.low, a.high + b.high}; }
Range operator-(const Range& a) { return {-a.high, -a.low}; }
Range operator*(const Range& a, const Range& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}
Range absolute(const Range& a) { return {std::max({0.0, a.low, -a.high}), std::max(-a.low, a.high)}; }
/// Returns the range of sums of up to `count` such values.
Range up_to(double count, const Range& a) { return unite(Range{count, count} * a, a); }

// Operations whose result consists of elements of the first argument.
constexpr std::array moving = std::to_array<std::string_view>(
    {"amax", "amin", "cummax", "cummin", "embedding", "expand", "gather", "index", "index_select", "permute", "reshape",
     "select", "slice", "squeeze", "transpose", "unsqueeze", "windows"});
// Operations whose result may be i32 even if an argument is i64.
constexpr std::array counting = std::to_array<std::string_view>({"argsort", "one_hot", "searchsorted", "to"});

Range of_values(const Numbers& values) {
  Range range{values[0], values[0]};
  for (std::size_t i = 1; i < values.size(); ++i) range = unite(range, {values[i], values[i]});
  return range;
}

class Fitter {
 public:
  explicit Fitter(Graph& graph) : graph_(graph), ranges_(graph.nodes.size()) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (node.type.dtype == DType::boolean) ranges_[i] = of_truth;
      if (node.kind == Node::Kind::call) check_numbers(node);
      if (!is_integer(node.type.dtype)) continue;
      const Range range = range_of(node);
      if (node.wide) {
        const bool fits = is_within(range, of_i32) && !is_made_of_i64(node);
        node.type.dtype = fits ? DType::i32 : DType::i64;
        ranges_[i] = is_within(range, of_i64) ? range : of_i64;  // wraps modulo 2^64, as in PyTorch
      } else {
        check_narrow(node);
        ranges_[i] = is_within(range, of_i32) ? range : of_i32;  // wraps modulo 2^32
      }
    }
  }

 private:
  const Node& arg(const Node& node, std::size_t i) const {
    return graph_.nodes[static_cast<std::size_t>(node.args[i])];
  }
  Range range(const Node& node, std::size_t i) const {
    const DType dtype = arg(node, i).type.dtype;
    return is_float(dtype) ? of_i64 : ranges_[static_cast<std::size_t>(node.args[i])];
  }
  Range whole_type(const Node& node) const { return node.wide ? of_i64 : of_i32; }

  /// Returns the positions of the arguments from whose numbers the result is made.
  std::vector<std::size_t> sources(const Node& node) const {
    if (is_one_of(node.op, counting)) return {};
    if (is_one_of(node.op, moving)) return {0};
    if (node.op == "where") return {1, 2};
    if (node.op == "masked_fill" || node.op.starts_with("scatter")) return {0, 2};
    std::vector<std::size_t> all(node.args.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  bool is_made_of_i64(const Node& node) const {
    return std::ranges::any_of(sources(node), [&](std::size_t i) { return arg(node, i).type.dtype == DType::i64; });
  }

  // Checks that integers are below 2^53, because a graph holds numbers as doubles. In an operation with floats, numbers
  // are converted to floats and need no check.
  void check_numbers(const Node& node) const {
    const Node* beyond = nullptr;
    bool real = false;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const Node& one = arg(node, i);
      real |= is_float(one.type.dtype);
      if (one.kind == Node::Kind::scalar && one.wide && std::abs(one.value) >= max_exact_integer) beyond = &one;
    }
    if (beyond != nullptr && !real)
      throw Error(fmt::format("{}: expected integers below 2^53, found {:.0f}", node.op, beyond->value));
  }

  // Throws Error if int32 cannot hold a number, as PyTorch does.
  void check_narrow(const Node& node) const {
    if (node.kind != Node::Kind::call || is_one_of(node.op, counting)) return;
    for (const std::size_t i : sources(node))
      if (arg(node, i).kind == Node::Kind::scalar && arg(node, i).type.dtype == DType::i64)
        throw Error(fmt::format("{}: expected a number that fits in int32, the type of the tensor, found {:.0f}",
                                node.op, arg(node, i).value));
  }

  Range range_of(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::scalar:
        return {node.value, node.value};
      case Node::Kind::input:
      case Node::Kind::parameter:
        return of_source(node);
      case Node::Kind::call:
        break;
    }
    return of_call(node);
  }

  static Range of_source(const Node& node) {
    const ValueSource& source = node.source;
    if (source.values) return source.values->empty() ? Range{} : of_values(*source.values);
    if (source.guessed) return of_type(node.type.dtype);
    switch (source.fill.draw) {
      case Fill::Draw::integers:
      case Fill::Draw::distinct:
        return {source.fill.a, source.fill.b - 1};
      case Fill::Draw::constant:
        return {std::trunc(source.fill.a), std::trunc(source.fill.a)};
      default:
        return of_type(node.type.dtype);
    }
  }

  double count(const Node& node) const {  // number of elements that are reduced to one
    return static_cast<double>(element_count(arg(node, 0).type.shape)) /
           static_cast<double>(std::max<std::int64_t>(element_count(node.type.shape), 1));
  }
  static double extent(const Node& node, std::int64_t dim) {
    return static_cast<double>(node.type.shape[static_cast<std::size_t>(dim)]);
  }

  Range of_call(const Node& node) const {
    const std::string_view op = node.op;
    const auto a = [&] { return range(node, 0); };
    const auto b = [&] { return range(node, 1); };
    if (op == "arange") {
      const auto start = static_cast<double>(node.integer("start")), step = static_cast<double>(node.integer("step"));
      const double last = start + step * (extent(node, 0) - 1);
      return unite({start, start}, {last, last});
    }
    if (op == "full") return {node.number("value"), node.number("value")};
    if (op == "argsort") return {0, extent(node, node.integer("dim")) - 1};
    if (op == "searchsorted") return {0, static_cast<double>(arg(node, 0).type.shape.back())};
    if (op == "one_hot") return of_truth;
    if (op == "to") return is_float(arg(node, 0).type.dtype) ? whole_type(node) : a();
    if (is_one_of(op, moving)) return a();
    if (op == "triu" || op == "tril") return unite(a(), {0, 0});
    if (op == "pad") return unite(a(), {node.number("value"), node.number("value")});
    if (op == "where") return unite(range(node, 1), range(node, 2));
    if (op == "masked_fill" || op == "scatter") return unite(a(), range(node, 2));
    if (op == "cat" || op == "stack") {
      Range all = a();
      for (std::size_t i = 1; i < node.args.size(); ++i) all = unite(all, range(node, i));
      return all;
    }
    if (op == "bitwise_and" && (a().low >= 0 || b().low >= 0))
      return {0, a().low < 0 ? b().high : b().low < 0 ? a().high : std::min(a().high, b().high)};
    if (op == "bitwise_right_shift") return unite(a(), {a().low < 0 ? -1.0 : 0.0, 0});
    if ((op == "bitwise_or" || op == "bitwise_xor") && a().low >= 0 && b().low >= 0)
      return {0, std::exp2(std::ceil(std::log2(std::max(a().high, b().high) + 1))) - 1};
    if (op == "bitwise_left_shift" && b().low >= 0 && b().high < 64)
      return unite(a(), a() * Range{1, std::exp2(b().high)});
    if (op == "add") return a() + b();
    if (op == "sub") return a() + -b();
    if (op == "mul") return a() * b();
    if (op == "neg") return -a();
    if (op == "abs") return absolute(a());
    if (op == "relu") return {std::max(a().low, 0.0), std::max(a().high, 0.0)};
    if (op == "maximum") return {std::max(a().low, b().low), std::max(a().high, b().high)};
    if (op == "minimum") return {std::min(a().low, b().low), std::min(a().high, b().high)};
    if (op == "floor_divide") {
      const auto divisor = static_cast<double>(node.integer("divisor"));
      return {std::floor(a().low / divisor), std::floor(a().high / divisor)};
    }
    if (op == "whole_quotient") return unite(absolute(a()), -absolute(a()));
    if (op == "remainder") return {0, static_cast<double>(node.integer("divisor")) - 1};
    if (op == "sum") return up_to(count(node), a());
    if (op == "cumsum") return up_to(extent(node, node.integer("dim")), a());
    if (op == "scatter_add")
      return a() + unite({0, 0}, up_to(extent(arg(node, 1), node.integer("dim")), range(node, 2)));
    if (op == "prod") return power(a(), count(node));
    if (op == "pow") return of_power(node);
    if (op == "matmul" || op == "linear") return of_product(node);
    return whole_type(node);
  }

  static Range power(const Range& base, double exponent) {
    const double max_power = std::pow(std::max(absolute(base).high, 1.0), exponent);
    return {base.low < 0 ? -max_power : 0, max_power};
  }
  /// Powers with a negative exponent are 0, 1 or -1.
  Range of_power(const Node& node) const { return power(range(node, 0), std::max(range(node, 1).high, 0.0)); }
  Range of_product(const Node& node) const {
    const Range sum = up_to(static_cast<double>(arg(node, 0).type.shape.back()), range(node, 0) * range(node, 1));
    return node.args.size() > 2 ? sum + range(node, 2) : sum;
  }

  Graph& graph_;
  std::vector<Range> ranges_;  // one per node; set only for integers and truth values
};

}  // namespace

void fit_integers(Graph& graph) { Fitter(graph).run(); }

}  // namespace deplo::ir::torch
