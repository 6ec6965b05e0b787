#include "ir/torch/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "ir/emit/reserved.h"
#include "ir/text/constant.h"
#include "ir/text/words.h"
#include "ir/torch/narrow.h"
#include "ir/torch/operations/empty.h"
#include "ir/torch/operations/infer.h"
#include "ir/torch/operations/not_a_number.h"
#include "ir/torch/operations/without_dimensions.h"
#include "ir/torch/ranges.h"

namespace deplo::ir::torch {
namespace {

template <class T>
const T& get(const Node& node, std::string_view attribute) {
  const auto found = node.attributes.find(attribute);
  CHECK(found != node.attributes.end());
  const T* value = std::get_if<T>(&found->second);
  CHECK(value != nullptr);
  return *value;
}

// Python's built-in functions after which calls are named. FX numbers these calls from 1 (`sum_1`).
constexpr std::array builtins = std::to_array<std::string_view>(
    {"abs",   "all",   "any", "bool",  "complex", "filter", "float", "format", "id",  "input",
     "int",   "iter",  "len", "list",  "map",     "max",    "min",   "next",   "pow", "print",
     "range", "round", "set", "slice", "sorted",  "sum",    "tuple", "type"});

std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    result += word ? c : '_';
  }
  const std::size_t underscores = result.find_first_not_of('_');
  if (underscores == std::string::npos) return "x";
  if (underscores > 1) result.erase(0, underscores - 1);  // compilers reserve names that begin with `__`
  if (result[0] >= '0' && result[0] <= '9') result.insert(0, "_");
  return result;
}

// Whether the name looks like a name that kernels give to axes and values: a0, v12, in3, acc1.
bool is_generated(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos || name.find_first_not_of("0123456789", digits) != std::string_view::npos)
    return false;
  const std::string_view prefix = name.substr(0, digits);
  return prefix == "a" || prefix == "v" || prefix == "in" || prefix == "acc";
}

bool is_taken(std::string_view name) { return is_reserved(name) || is_generated(name) || !is_name(name); }

// Returns the name without its number, because names are numbered again: `mul_1` → `mul`.
std::string_view stem(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered = last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '_';
  return numbered ? name.substr(0, last) : name;
}

}  // namespace

std::int64_t Node::integer(std::string_view attribute) const { return get<std::int64_t>(*this, attribute); }
double Node::number(std::string_view attribute) const { return get<double>(*this, attribute); }
bool Node::flag(std::string_view attribute) const { return get<bool>(*this, attribute); }
const std::string& Node::text(std::string_view attribute) const { return get<std::string>(*this, attribute); }
const std::vector<std::int64_t>& Node::integers(std::string_view attribute) const {
  return get<std::vector<std::int64_t>>(*this, attribute);
}

std::string Builder::new_name(std::string_view name, Node::Kind kind) {
  std::string candidate = identifier(name);
  if (is_taken(candidate) && is_taken(candidate + "_1")) candidate.insert(0, "_");  // reserved prefixes: get_x, vload_x
  const bool builtin = kind == Node::Kind::call && std::ranges::find(builtins, candidate) != builtins.end();
  if (builtin || is_taken(candidate) || names_.contains(candidate)) {
    const std::string base(stem(candidate));
    do candidate = fmt::format("{}_{}", base, ++names_[base]);
    while (names_.contains(candidate));
  }
  names_.emplace(candidate, 0);
  return candidate;
}

Id Builder::add(Node node, std::string_view name) {
  node.name = new_name(name, node.kind);
  node.wide = node.type.dtype == DType::i64;
  nodes_.push_back(std::move(node));
  return static_cast<Id>(nodes_.size()) - 1;
}

Id Builder::input(std::string_view name, TensorType type, ValueSource source) {
  check_type(name, type);
  CHECK(!source.values || static_cast<std::int64_t>(source.values->size()) == element_count(type.shape));
  return add({Node::Kind::input, {}, std::move(type), {}, {}, {}, 0, std::move(source)}, name);
}

Id Builder::parameter(std::string_view name, TensorType type, ValueSource source) {
  const Id id = input(name, std::move(type), std::move(source));
  nodes_.back().kind = Node::Kind::parameter;
  return id;
}

void Builder::drop_input(Id id) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  CHECK(node.kind == Node::Kind::input);
  names_.erase(node.name);
  node.kind = Node::Kind::parameter;
  node.name = fmt::format("drawn_{}", id);
  names_.emplace(node.name, 0);
}

void Builder::restore_input(Id id, std::string_view name) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  CHECK(node.kind == Node::Kind::parameter);
  node.kind = Node::Kind::input;
  rename(id, name);
}

void Builder::rename(Id id, std::string_view name) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  names_.erase(node.name);
  node.name = new_name(name, node.kind);
}

void Builder::compute(Id parameter, Id source) {
  Node& node = nodes_[static_cast<std::size_t>(parameter)];
  CHECK(node.kind == Node::Kind::parameter && source < parameter);
  node.kind = Node::Kind::call;
  node.op = "to";
  node.args = {source};
  node.attributes = {{"dtype", node.type.dtype}};
  node.source = {};
  if (node.type == type(source)) copies_.insert(parameter);
}

void Builder::redraw(Id id, Fill fill) {
  Node& node = nodes_[static_cast<std::size_t>(id)];
  CHECK(node.kind == Node::Kind::parameter);
  node.source.fill = fill;
}

Id Builder::scalar(double value, DType dtype, std::string_view name) {
  if (std::isnan(value)) return not_a_number(*this, {DType::f32, {}}, name.empty() ? "nan" : name);
  return add({Node::Kind::scalar, {}, {dtype, {}}, {}, {}, {}, f32_constant(value), {}},
             name.empty() ? "scalar" : name);
}

Id Builder::call(std::string_view op, std::vector<Id> args, Attributes attributes, std::string_view name) {
  for (const Id arg : args) CHECK(arg >= 0 && static_cast<std::size_t>(arg) < size());
  if (const auto made = call_without_dimensions(*this, op, args, attributes, name)) return *made;
  std::vector<const Node*> nodes;
  for (const Id arg : args) nodes.push_back(&node(arg));
  Node call = {Node::Kind::call, {}, {}, std::string(op), std::move(args), std::move(attributes), 0, {}};
  call.type = infer(call, nodes);
  if (op == "full" && std::isnan(call.number("value"))) return not_a_number(*this, call.type, name.empty() ? op : name);
  if (const auto made = call_on_nothing(*this, call, name.empty() ? op : name)) return *made;
  return add(std::move(call), name.empty() ? op : name);
}

Id Builder::copy(Id tensor) {
  const Id result = call("to", {tensor}, {{"dtype", type(tensor).dtype}}, "copy");
  copies_.insert(result);
  return result;
}

std::vector<bool> Builder::needed(const std::vector<Id>& outputs) const {
  std::vector<bool> needed(size(), false);
  for (const Id output : outputs) needed[static_cast<std::size_t>(output)] = true;
  for (std::size_t i = size(); i-- > 0;)
    if (needed[i])
      for (const Id arg : nodes_[i].args) needed[static_cast<std::size_t>(arg)] = true;
  return needed;
}

Graph Builder::finish(const std::vector<Id>& all) {
  const auto original = [&](Id id) { return copies_.contains(id) ? node(id).args[0] : id; };
  for (Node& node : nodes_)  // arguments come first, so the argument of a copy is not a copy
    std::ranges::transform(node.args, node.args.begin(), original);
  std::vector<Id> outputs(all.size());
  std::ranges::transform(all, outputs.begin(), original);
  const std::vector<bool> needed = this->needed(outputs);
  std::vector<Id> renumbered(size(), -1);
  Graph result;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!needed[i] && nodes_[i].kind != Node::Kind::input) continue;
    renumbered[i] = static_cast<Id>(result.nodes.size());
    for (Id& arg : nodes_[i].args) arg = renumbered[static_cast<std::size_t>(arg)];
    result.nodes.push_back(std::move(nodes_[i]));
  }
  for (const Id output : outputs) result.outputs.push_back(renumbered[static_cast<std::size_t>(output)]);
  nodes_.clear();
  names_.clear();
  copies_.clear();
  result = without_narrow_integers(std::move(result));
  fit_integers(result);
  return result;
}

}  // namespace deplo::ir::torch
