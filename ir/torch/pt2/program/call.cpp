#include "ir/torch/pt2/program/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/match.h"
#include "core/text/one_of.h"

namespace deplo::ir::torch::pt2 {
namespace {

// Returns the number of places in which the graph reads a tensor.
std::ptrdiff_t readers(const ProgramGraph& graph, const std::string& tensor) {
  const auto read = [&](const Argument& argument) { return reads(argument, tensor); };
  std::ptrdiff_t count = std::ranges::count_if(graph.outputs, read);
  for (const ProgramNode& node : graph.nodes) count += std::ranges::count_if(node.inputs, read, &NamedArgument::value);
  return count;
}

std::vector<std::string> flatten(const std::vector<Argument>& outputs) {
  std::vector<std::string> names;
  for (const Argument& output : outputs)
    if (const auto* t = std::get_if<Tensor>(&output))
      names.push_back(t->name);
    else if (const auto* list = std::get_if<Tensors>(&output))
      names.insert(names.end(), list->names.begin(), list->names.end());
    else if (std::holds_alternative<None>(output))
      names.emplace_back();
    else
      throw Error(fmt::format("expected tensors as outputs, found {}", describe(output)));
  return names;
}

}  // namespace

bool reads(const Argument& argument, const std::string& tensor) {
  bool found = false;
  each_tensor(argument, [&](const std::string& name) { found |= name == tensor; });
  return found;
}

std::string describe(const Argument& argument) {
  return match(
      argument, [](const None&) -> std::string { return "None"; },
      [](const bool& b) -> std::string { return b ? "True" : "False"; },
      [](const std::int64_t& n) { return fmt::format("{}", n); }, [](const double& x) { return fmt::format("{}", x); },
      [](const std::complex<double>& x) { return fmt::format("({}{:+}j)", x.real(), x.imag()); },
      [](const std::string& text) { return fmt::format("'{}'", text.substr(0, 64)); },
      [](const std::vector<std::int64_t>& list) { return print(list); },
      [](const std::vector<double>& list) { return fmt::format("{} numbers", list.size()); },
      [](const ScalarType& type) { return scalar_type_name(type); },
      [](const Tensor& t) { return fmt::format("the tensor '{}'", t.name); },
      [](const Tensors&) -> std::string { return "a list of tensors"; },
      [](const Symbol& s) { return fmt::format("'{}', which is known only at run time", s.name); },
      [](const Subgraph&) -> std::string { return "a graph"; }, [](const Other& o) { return o.kind; });
}

Call::Call(const ProgramNode& node, const ProgramGraph& graph, const Ids& ids, Builder& builder)
    : node_(node), graph_(graph), ids_(ids), builder_(builder), outputs_(flatten(node.outputs)) {}

const Argument* Call::find(std::string_view argument) const {
  for (const NamedArgument& a : node_.inputs)
    if (a.name == argument) return std::holds_alternative<None>(a.value) ? nullptr : &a.value;
  return nullptr;
}

const Argument& Call::get(std::string_view argument) {
  const Argument* found = find(argument);
  if (!found) throw Error(fmt::format("expected an argument '{}', found none", argument));
  asked_.insert(argument);
  return *found;
}

void Call::fail(std::string_view argument, std::string_view expected) const {
  const Argument* found = find(argument);
  throw Error(
      fmt::format("argument '{}': expected {}, found {}", argument, expected, found ? describe(*found) : "None"));
}

const std::vector<NamedArgument>& Call::all() {
  for (const NamedArgument& a : node_.inputs) asked_.insert(a.name);
  return node_.inputs;
}

bool Call::has(std::string_view argument) const { return find(argument) != nullptr; }

Id find_id(const Call::Ids& ids, std::string_view name) {
  const auto found = ids.find(name);
  if (found == ids.end()) throw Error(fmt::format("expected a tensor computed before, found '{}'", name));
  return found->second;
}

Id Call::tensor(std::string_view argument) {
  if (const auto* t = std::get_if<Tensor>(&get(argument))) return find_id(ids_, t->name);
  fail(argument, "a tensor");
}

Id Call::operand(std::string_view argument) {
  const Argument& value = get(argument);
  if (const bool* b = std::get_if<bool>(&value)) return builder_.scalar(*b ? 1 : 0, DType::boolean);
  if (const auto* n = std::get_if<std::int64_t>(&value)) return builder_.scalar(static_cast<double>(*n), DType::i64);
  if (const auto* x = std::get_if<double>(&value)) return builder_.scalar(*x, DType::f32);
  return tensor(argument);
}

std::vector<Id> Call::tensors(std::string_view argument) {
  std::vector<Id> result;
  for (const std::optional<Id>& t : optional_tensors(argument)) {
    if (!t) fail(argument, "tensors without a None among them");
    result.push_back(*t);
  }
  return result;
}

std::vector<std::optional<Id>> Call::optional_tensors(std::string_view argument) {
  const auto* list = std::get_if<Tensors>(&get(argument));
  if (!list) fail(argument, "a list of tensors");
  std::vector<std::optional<Id>> result;
  for (const std::string& t : list->names) result.push_back(t.empty() ? std::nullopt : std::optional(find_id(ids_, t)));
  return result;
}

std::int64_t Call::integer(std::string_view argument) {
  if (const auto* n = std::get_if<std::int64_t>(&get(argument))) return *n;
  fail(argument, "an integer");
}

std::int64_t Call::integer(std::string_view argument, std::int64_t fallback) {
  return has(argument) ? integer(argument) : fallback;
}

double Call::number(std::string_view argument, double fallback) {
  if (!has(argument)) return fallback;
  const Argument& value = get(argument);
  if (const auto* n = std::get_if<std::int64_t>(&value)) return static_cast<double>(*n);
  if (const bool* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  if (const auto* x = std::get_if<double>(&value)) return *x;
  fail(argument, "a number");
}

bool Call::flag(std::string_view argument, bool fallback) {
  if (!has(argument)) return fallback;
  if (const bool* b = std::get_if<bool>(&get(argument))) return *b;
  fail(argument, "True or False");
}

std::string Call::text(std::string_view argument, std::string_view fallback) {
  if (!has(argument)) return std::string(fallback);
  if (const auto* t = std::get_if<std::string>(&get(argument))) return *t;
  fail(argument, "a string");
}

bool Call::is_text(std::string_view argument) const {
  const Argument* found = find(argument);
  return found != nullptr && std::holds_alternative<std::string>(*found);
}

bool Call::is_symbol(std::string_view argument) const {
  const Argument* found = find(argument);
  return found != nullptr && std::holds_alternative<Symbol>(*found);
}

std::vector<std::int64_t> Call::integers(std::string_view argument) {
  if (!has(argument)) return {};
  const Argument& value = get(argument);
  if (const auto* n = std::get_if<std::int64_t>(&value)) return {*n};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return *list;
  if (const auto* list = std::get_if<Tensors>(&value); list && list->names.empty()) return {};
  fail(argument, "integers");
}

std::vector<double> Call::numbers(std::string_view argument) {
  if (!has(argument)) return {};
  const Argument& value = get(argument);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return {list->begin(), list->end()};
  fail(argument, "numbers");
}

void Call::ignore(std::initializer_list<std::string_view> arguments) { asked_.insert(arguments); }

void Call::finish() const {
  for (const NamedArgument& a : node_.inputs)
    if (!asked_.contains(a.name) && !std::holds_alternative<None>(a.value))
      fail(a.name, "None or its default (no other value is supported)");
}

const TensorType& Call::output_type(std::size_t i) const {
  if (i >= outputs_.size()) throw Error(fmt::format("expected at least {} outputs, found {}", i + 1, outputs_.size()));
  const auto found = graph_.tensors.find(outputs_[i]);
  if (found == graph_.tensors.end())
    throw Error(fmt::format("expected a type of the output '{}', found none", outputs_[i]));
  if (!found->second.problem.empty())
    throw Error(fmt::format("output '{}': expected {}", outputs_[i], found->second.problem));
  return found->second.type;
}

ScalarType Call::stated_type() const {
  output_type();
  return graph_.tensors.find(outputs_[0])->second.stated;
}

const TensorMeta& Call::stated(std::string_view argument) {
  const auto* t = std::get_if<Tensor>(&get(argument));
  if (t == nullptr) fail(argument, "a tensor");
  const auto found = graph_.tensors.find(t->name);
  if (found == graph_.tensors.end()) fail(argument, "a tensor whose strides the file states");
  return found->second;
}

bool Call::is_read(std::size_t output) const {
  return output < outputs_.size() && readers(graph_, outputs_[output]) > 0;
}

void Call::assign(std::string_view argument, Id value) {
  const auto* t = std::get_if<Tensor>(&get(argument));
  if (t == nullptr) fail(argument, "a tensor");
  assigned_.emplace_back(t->name, value);
}

std::vector<Id> Call::node(std::vector<Id> args, Attributes attributes) const {
  return {add(op, std::move(args), std::move(attributes))};
}

Id Call::add(std::string_view name, std::vector<Id> args, Attributes attributes) const {
  return builder_.call(name, std::move(args), std::move(attributes), node_.name);
}

Id Call::reshape(Id id, const Shape& to) const { return shape(id) == to ? id : add("reshape", {id}, {{"shape", to}}); }
Id Call::expand(Id id, const Shape& to) const { return shape(id) == to ? id : add("expand", {id}, {{"shape", to}}); }
Id Call::to(Id id, DType to) const { return dtype(id) == to ? id : add("to", {id}, {{"dtype", to}}); }

Id Call::slice(Id id, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) const {
  const std::int64_t wrapped = dim < 0 ? dim + rank(id) : dim;
  const bool exists = wrapped >= 0 && wrapped < rank(id);
  if (exists && start == 0 && step == 1 && end >= shape(id)[static_cast<std::size_t>(wrapped)]) return id;
  return add("slice", {id}, {{"dim", dim}, {"start", start}, {"end", end}, {"step", step}});
}

bool is_reshaping(std::string_view function) {
  return is_one_of(function, {"aten.alias", "aten.contiguous", "aten.detach", "aten.flatten", "aten.ravel",
                              "aten.reshape", "aten.reshape_as", "aten.squeeze", "aten.to", "aten.unflatten",
                              "aten.unsqueeze", "aten.view", "aten.view_as"});
}

}  // namespace deplo::ir::torch::pt2
