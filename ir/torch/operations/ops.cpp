#include "ir/torch/operations/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/mapped.h"
#include "core/text/match.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "ir/text/constant.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 7> names = {"a truth value", "an integer",         "a number", "a number",
                                                     "text",          "a list of integers", "a dtype"};
  return names.at(static_cast<std::size_t>(kind));  // in the order of AttributeKind
}

// Converts an integer to a double or to a list of one element if the kind requires it, and limits a double to the range
// of f32 (f32_constant). Returns whether the value has the kind.
bool coerce(Attribute& value, Kind kind) {
  if (auto* number = std::get_if<double>(&value)) *number = f32_constant(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (kind == Kind::number) value = static_cast<double>(*whole);
    if (kind == Kind::integers) value = Shape{*whole};
  }
  if (kind == Kind::flag) return std::holds_alternative<bool>(value);
  if (kind == Kind::integer) return std::holds_alternative<std::int64_t>(value);
  if (kind == Kind::number) return std::holds_alternative<double>(value);
  if (kind == Kind::literal) return value.index() <= 2;  // bool, integer, double
  if (kind == Kind::text) return std::holds_alternative<std::string>(value);
  if (kind == Kind::integers) return std::holds_alternative<Shape>(value);
  return std::holds_alternative<DType>(value);
}

void check_names(const Operation& op, const Attributes& attributes) {
  const std::vector<std::string> known = mapped<std::string>(op.attributes, &AttributeSpec::name);
  for (const auto& [attribute, value] : attributes)
    if (std::ranges::find(known, attribute) == known.end())
      throw Error(known.empty() ? fmt::format("{}: expected no attributes, found '{}'", op.name, attribute)
                                : fmt::format("{}: expected one of the attributes {}, found '{}'{}", op.name,
                                              join(known, ", "), attribute, did_you_mean(attribute, known)));
}

std::optional<Attribute> fallback(const AttributeSpec& spec) {
  using Result = std::optional<Attribute>;
  return match(
      spec.fallback, [](Required) -> Result { return std::nullopt; }, [](Computed) -> Result { return std::nullopt; },
      [](std::string_view text) -> Result { return std::string(text); }, [](auto value) -> Result { return value; });
}

void complete_attributes(const Operation& op, Node& call) {
  check_names(op, call.attributes);
  for (const AttributeSpec& spec : op.attributes) {
    const auto found = call.attributes.find(spec.name);
    if (found == call.attributes.end()) {
      if (std::holds_alternative<Required>(spec.fallback))
        throw Error(fmt::format("{}: expected {} ({}), found none", op.name, spec.name, name(spec.kind)));
      if (const auto value = fallback(spec)) call.attributes.emplace(spec.name, *value);
    } else if (!coerce(found->second, spec.kind)) {
      throw Error(
          fmt::format("{}: expected {} for {}, found another kind of value", op.name, name(spec.kind), spec.name));
    } else if (const auto* number = std::get_if<double>(&found->second);
               number && std::isnan(*number) && spec.kind == Kind::number) {
      throw Error(fmt::format("{}: expected a number for {}, found nan", op.name, spec.name));
    }
  }
}

void check_count(const Operation& op, const Inference& call) {
  if (call.size() >= op.min && call.size() <= op.max) return;
  std::string range = std::to_string(op.min);
  if (op.max == any_number)
    range = fmt::format("at least {}", op.min);
  else if (op.max != op.min)
    range = fmt::format("{} to {}", op.min, op.max);
  call.expected(fmt::format("{} tensor argument{}", range, op.max == 1 ? "" : "s"), std::to_string(call.size()));
}

}  // namespace

std::span<const Operation> operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> rows;
    for (const auto& family : {unary_operations(), binary_operations(), choice_operations(), reduction_operations(),
                               normalisation_operations(), matmul_operations(), attention_operations(),
                               layout_operations(), slice_operations(), index_operations(), scatter_operations(),
                               order_operations(), sort_operations(), join_operations(), window_operations(),
                               convolution_operations(), bitwise_operations(), creation_operations()})
      rows.insert(rows.end(), family.begin(), family.end());
    std::ranges::sort(rows, {}, &Operation::name);
    CHECK(std::ranges::adjacent_find(rows, {}, &Operation::name) == rows.end());
    return rows;
  }();
  return all;
}

const Operation* find_operation(std::string_view name) {
  const auto found = std::ranges::lower_bound(operations(), name, {}, &Operation::name);
  return found != operations().end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string_view> attribute_names(std::string_view op) {
  const Operation* row = find_operation(op);
  CHECK(row);
  return mapped(row->attributes, &AttributeSpec::name);
}

TensorType infer(Node& call, std::span<const Node* const> args) {
  const Operation* op = find_operation(call.op);
  if (!op) {
    const std::vector<std::string> names = mapped<std::string>(operations(), &Operation::name);
    throw Error(fmt::format("expected an operation ({}), found '{}'{}", join(names, ", "), call.op,
                            did_you_mean(call.op, names)));
  }
  const Inference context(call, args);
  check_count(*op, context);
  complete_attributes(*op, call);
  TensorType type = op->infer(context);
  check_type(call.op, type);
  return type;
}

bool is_default(const Node& call, std::span<const Node* const> args, std::string_view attribute) {
  const Operation* op = find_operation(call.op);
  CHECK(op);
  const auto spec = std::ranges::find(op->attributes, attribute, &AttributeSpec::name);
  CHECK(spec != op->attributes.end());
  if (std::holds_alternative<Required>(spec->fallback)) return false;
  const Attribute& value = call.attributes.find(attribute)->second;
  if (const auto given = fallback(*spec)) return value == *given;
  Node without = call;  // infers the attribute from the arguments again
  without.attributes.erase(std::string(attribute));
  infer(without, args);
  return without.attributes.find(attribute)->second == value;
}

}  // namespace deplo::ir::torch
