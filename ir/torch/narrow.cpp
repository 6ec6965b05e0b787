#include "ir/torch/narrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text/one_of.h"
#include "ir/torch/operations/ops.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

// Operations that convert both arguments to the type of the result, or to the common type that they compare.
constexpr std::array converting =
    std::to_array<std::string_view>({"add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
                                     "bitwise_xor", "eq", "ge", "gt", "le", "lt", "mul", "ne", "sub"});
// Operations that put numbers into a tensor.
constexpr std::array putting = std::to_array<std::string_view>({"masked_fill", "where"});
constexpr std::array extrema = std::to_array<std::string_view>({"maximum", "minimum"});
// Operations whose result is within the range of the arguments.
constexpr std::array within =
    std::to_array<std::string_view>({"amax",        "amin",         "bitwise_and", "bitwise_or", "bitwise_right_shift",
                                     "bitwise_xor", "cat",          "cummax",      "cummin",     "embedding",
                                     "expand",      "floor_divide", "gather",      "index",      "index_select",
                                     "masked_fill", "maximum",      "minimum",     "pad",        "permute",
                                     "relu",        "remainder",    "reshape",     "scatter",    "select",
                                     "slice",       "squeeze",      "stack",       "transpose",  "tril",
                                     "triu",        "unsqueeze",    "where",       "windows"});

/// Whether a call is a conversion that kernels have: of an element that was loaded, or of one that is stored.
bool is_plain(const Graph& graph, const Node& node) {
  if (node.kind != Node::Kind::call) return true;
  const auto narrow = [](const Node& n) { return is_narrow_integer(n.type.dtype); };
  const auto arg = [&](Id id) -> const Node& { return graph.nodes[static_cast<std::size_t>(id)]; };
  const bool takes = std::ranges::any_of(node.args, [&](Id id) { return narrow(arg(id)); }), gives = narrow(node);
  if (!takes && !gives) return true;
  if (node.op != "to") return false;
  const Node& from = arg(node.args[0]);
  return takes ? !gives && from.kind != Node::Kind::call : from.type.dtype == DType::i32;
}

class Widener {
 public:
  explicit Widener(Graph& graph) : graph_(graph), words_(graph.nodes.size()), results_(graph.nodes.size()) {}

  Graph run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(i);
    std::vector<Id> outputs;
    for (const Id output : graph_.outputs) outputs.push_back(stored(static_cast<std::size_t>(output)));
    Graph result = builder_.finish(outputs);
    result.allow_tf32 = graph_.allow_tf32;
    result.note = graph_.note;
    return result;
  }

 private:
  const Node& node(Id id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  bool is_output(std::size_t i) const {
    return std::ranges::find(graph_.outputs, static_cast<Id>(i)) != graph_.outputs.end();
  }
  Id number(double value) { return builder_.scalar(value, DType::i64); }
  Id to(Id id, DType dtype, std::string_view name = "") {
    return builder_.type(id).dtype == dtype ? id : builder_.call("to", {id}, {{"dtype", dtype}}, name);
  }

  void add(std::size_t i) {
    Node& n = graph_.nodes[i];
    switch (n.kind) {
      case Node::Kind::input:
        results_[i] = builder_.input(n.name, n.type, std::move(n.source));
        break;
      case Node::Kind::parameter:
        results_[i] = builder_.parameter(n.name, n.type, std::move(n.source));
        break;
      case Node::Kind::scalar:
        results_[i] = builder_.scalar(n.value, n.wide ? DType::i64 : n.type.dtype, n.name);
        break;
      case Node::Kind::call:
        results_[i] = call(n, is_narrow_integer(n.type.dtype) && is_output(i) ? n.name + "_word" : n.name);
        break;
    }
  }

  Id call(const Node& n, std::string_view name) {
    if (is_narrow_integer(n.type.dtype)) {
      if (n.op == "pad" || n.op == "full") check_fits(n, n.number("value"));
      if (n.op == "floor_divide" || n.op == "remainder") check_fits(n, static_cast<double>(n.integer("divisor")));
    }
    std::vector<Id> args;
    for (std::size_t k = 0; k < n.args.size(); ++k) args.push_back(argument(n, k));
    Attributes attributes = n.attributes;
    for (auto& [key, value] : attributes)
      if (const auto* dtype = std::get_if<DType>(&value); dtype != nullptr && is_narrow_integer(*dtype))
        value = DType::i32;
    if (n.op == "to" && builder_.type(args[0]).dtype == std::get<DType>(attributes.at("dtype"))) return args[0];
    const Id result = builder_.call(n.op, std::move(args), std::move(attributes), name);
    return to(result, is_narrow_integer(n.type.dtype) ? DType::i32 : n.wide ? DType::i64 : n.type.dtype);
  }

  /// Returns the type to which the arguments are converted, if it is narrow.
  std::optional<DType> common_type(const Node& n) const {
    DType common = n.type.dtype;
    if (is_one_of(n.op, converting))  // a comparison gives a truth value
      common = promote(node(n.args[0]), node(n.args[1]));
    else if (!is_one_of(n.op, extrema) && !is_one_of(n.op, putting))
      return {};
    return is_narrow_integer(common) ? std::optional(common) : std::nullopt;
  }

  Id argument(const Node& n, std::size_t k) {
    const auto i = static_cast<std::size_t>(n.args[k]);
    const Node& arg = graph_.nodes[i];
    const std::optional<DType> common = common_type(n);
    if (!common || !is_integer(arg.type.dtype) || is_narrow_integer(arg.type.dtype)) return word(i);
    if (arg.kind != Node::Kind::scalar) return wrapped(to(results_[i], DType::i32), *common);
    if (is_one_of(n.op, extrema)) return limit(n, i);
    // As in PyTorch, an unsigned type takes negative numbers, too.
    if (is_one_of(n.op, putting)) check_fits(n, is_unsigned(*common) ? std::abs(arg.value) : arg.value);
    return is_held(arg.value, *common) ? results_[i] : number(to_integer(arg.value, DType::i64, *common));
  }

  /// Returns the number with which an extremum is taken. One beyond the type's range changes no element, as in
  /// clamp(x, -1, 1000), or all of them; PyTorch refuses the latter.
  Id limit(const Node& n, std::size_t i) {
    const double value = graph_.nodes[i].value;
    const bool is_maximum = n.op == "maximum";
    if (is_maximum ? value > 0 : value < 0) check_fits(n, value);
    return results_[i];
  }

  static void check_fits(const Node& n, double value) {
    if (!is_held(value, n.type.dtype))
      throw Error(fmt::format("{}: expected a number that fits in {}, the type of the tensor, found {}", n.op,
                              torch_name(n.type.dtype), value));
  }

  /// Returns the value of a node as calls take it.
  Id word(std::size_t i) {
    const Node& n = graph_.nodes[i];
    if (!is_narrow_integer(n.type.dtype)) return results_[i];
    if (!words_[i]) {
      const bool given = n.kind != Node::Kind::call;
      words_[i] = given            ? to(results_[i], DType::i32)
                  : is_in_range(n) ? results_[i]
                                   : wrapped(results_[i], n.type.dtype);
    }
    return *words_[i];
  }

  bool is_in_range(const Node& n) const {
    if (is_one_of(n.op, within) || n.op == "full") return true;
    if (n.op == "to") {
      const DType from = node(n.args[0]).type.dtype;
      return from == DType::boolean || (is_narrow_integer(from) && width(from) < width(n.type.dtype));
    }
    if (n.op != "arange") return false;
    const auto start = static_cast<double>(n.integer("start"));
    const double last = start + static_cast<double>(n.integer("step")) * static_cast<double>(n.type.shape[0] - 1);
    return is_held(start, n.type.dtype) && is_held(last, n.type.dtype);
  }

  /// Returns the low bits of an i32.
  Id wrapped(Id id, DType narrow) {
    const double mask = std::exp2(width(narrow)) - 1, half = (mask + 1) / 2;
    if (is_unsigned(narrow)) return builder_.call("bitwise_and", {id, number(mask)});
    const Id bits = builder_.call("bitwise_and", {builder_.call("add", {id, number(half)}), number(mask)});
    return builder_.call("sub", {bits, number(half)});
  }

  /// Returns an output as it is stored. The store itself keeps the low bits.
  Id stored(std::size_t i) {
    const Node& n = graph_.nodes[i];
    return n.kind == Node::Kind::call ? to(results_[i], n.type.dtype, n.name) : results_[i];
  }

  Graph& graph_;
  Builder builder_;
  std::vector<std::optional<Id>> words_;  // one per node, for narrow integers
  std::vector<Id> results_;               // one per node; of a call with a narrow result: an i32 with any higher bits
};

}  // namespace

Graph without_narrow_integers(Graph graph) {
  const bool plain = std::ranges::all_of(graph.nodes, [&](const Node& n) { return is_plain(graph, n); });
  return plain ? std::move(graph) : Widener(graph).run();
}

}  // namespace deplo::ir::torch
