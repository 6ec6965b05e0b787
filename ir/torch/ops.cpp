#include "ir/torch/ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "ir/torch/infer.h"

namespace deplo::ir::torch {
namespace {

using Kind = AttributeKind;

AttributeSpec required(std::string_view name, Kind kind) { return {name, kind, std::nullopt, true}; }
AttributeSpec computed(std::string_view name, Kind kind) { return {name, kind, std::nullopt, false}; }
AttributeSpec integer(std::string_view name, std::int64_t value) { return {name, Kind::integer, value, false}; }
AttributeSpec number(std::string_view name, double value) { return {name, Kind::number, value, false}; }
AttributeSpec flag(std::string_view name) { return {name, Kind::flag, false, false}; }
AttributeSpec all_dims() { return {"dims", Kind::integers, Shape{}, false}; }

std::vector<OpRow> make_table() {
  const double float_epsilon = 0x1p-23;  // torch.finfo(torch.float32).eps
  const std::vector<AttributeSpec> reduce = {all_dims(), flag("keepdim")};
  const AttributeSpec dim = required("dim", Kind::integer), dims = required("dims", Kind::integer);
  const AttributeSpec approximate = {"approximate", Kind::text, std::string("none"), false};
  std::vector<OpRow> rows = {
      {"abs", 1, 1, infer_number_unary, {}},
      {"add", 2, 2, infer_arithmetic, {}},
      {"amax", 1, 1, infer_extremum, reduce},
      {"amin", 1, 1, infer_extremum, reduce},
      {"arange",
       0,
       0,
       infer_arange,
       {integer("start", 0), required("end", Kind::integer), integer("step", 1), computed("dtype", Kind::dtype)}},
      {"cat", 1, any_number, infer_cat, {integer("dim", 0)}},
      {"cos", 1, 1, infer_float_unary, {}},
      {"div", 2, 2, infer_div, {}},
      {"embedding", 2, 2, infer_embedding, {}},
      {"eq", 2, 2, infer_truth, {}},
      {"erf", 1, 1, infer_float_unary, {}},
      {"exp", 1, 1, infer_float_unary, {}},
      {"expand", 1, 1, infer_expand, {required("shape", Kind::integers)}},
      {"full",
       0,
       0,
       infer_full,
       {required("shape", Kind::integers), required("value", Kind::literal), computed("dtype", Kind::dtype)}},
      {"gather", 2, 2, infer_gather, {dim}},
      {"ge", 2, 2, infer_truth, {}},
      {"gelu", 1, 1, infer_gelu, {approximate}},
      {"gt", 2, 2, infer_truth, {}},
      {"layer_norm", 1, 3, infer_norm, {dims, number("eps", 1e-5)}},
      {"le", 2, 2, infer_truth, {}},
      {"linear", 2, 3, infer_linear, {}},
      {"log", 1, 1, infer_float_unary, {}},
      {"log_softmax", 1, 1, infer_softmax, {dim}},
      {"logical_and", 2, 2, infer_truth, {}},
      {"logical_not", 1, 1, infer_logical_not, {}},
      {"logical_or", 2, 2, infer_truth, {}},
      {"lt", 2, 2, infer_truth, {}},
      {"masked_fill", 3, 3, infer_masked_fill, {}},
      {"matmul", 2, 2, infer_matmul, {}},
      {"maximum", 2, 2, infer_arithmetic, {}},
      {"mean", 1, 1, infer_mean, reduce},
      {"minimum", 2, 2, infer_arithmetic, {}},
      {"mul", 2, 2, infer_arithmetic, {}},
      {"ne", 2, 2, infer_truth, {}},
      {"neg", 1, 1, infer_number_unary, {}},
      {"permute", 1, 1, infer_permute, {required("dims", Kind::integers)}},
      {"pow", 2, 2, infer_pow, {}},
      {"prod", 1, 1, infer_sum, reduce},
      {"reciprocal", 1, 1, infer_float_unary, {}},
      {"relu", 1, 1, infer_number_unary, {}},
      {"reshape", 1, 1, infer_reshape, {required("shape", Kind::integers)}},
      {"rms_norm", 1, 2, infer_norm, {dims, number("eps", float_epsilon)}},
      {"rsqrt", 1, 1, infer_float_unary, {}},
      {"scaled_dot_product_attention",
       3,
       4,
       infer_attention,
       {flag("is_causal"), computed("scale", Kind::number), flag("enable_gqa")}},
      {"select", 1, 1, infer_select, {dim, required("index", Kind::integer)}},
      {"sigmoid", 1, 1, infer_float_unary, {}},
      {"silu", 1, 1, infer_activation, {}},
      {"sin", 1, 1, infer_float_unary, {}},
      {"slice", 1, 1, infer_slice, {dim, integer("start", 0), computed("end", Kind::integer), integer("step", 1)}},
      {"softmax", 1, 1, infer_softmax, {dim}},
      {"sqrt", 1, 1, infer_float_unary, {}},
      {"squeeze", 1, 1, infer_squeeze, {computed("dims", Kind::integers)}},
      {"stack", 1, any_number, infer_stack, {integer("dim", 0)}},
      {"sub", 2, 2, infer_sub, {}},
      {"sum", 1, 1, infer_sum, reduce},
      {"tanh", 1, 1, infer_float_unary, {}},
      {"to", 1, 1, infer_to, {required("dtype", Kind::dtype)}},
      {"transpose", 1, 1, infer_transpose, {required("dim0", Kind::integer), required("dim1", Kind::integer)}},
      {"tril", 1, 1, infer_triangle, {integer("diagonal", 0)}},
      {"triu", 1, 1, infer_triangle, {integer("diagonal", 0)}},
      {"unsqueeze", 1, 1, infer_unsqueeze, {dim}},
      {"var", 1, 1, infer_mean, {all_dims(), flag("keepdim"), integer("correction", 1)}},
      {"where", 3, 3, infer_where, {}},
  };
  CHECK(std::ranges::is_sorted(rows, {}, &OpRow::name));
  return rows;
}

const std::vector<OpRow>& table() {
  static const std::vector<OpRow> rows = make_table();
  return rows;
}

const OpRow* find(std::string_view name) {
  const auto at = std::ranges::lower_bound(table(), name, {}, &OpRow::name);
  return at != table().end() && at->name == name ? &*at : nullptr;
}

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return "a truth value";
    case Kind::integer:
      return "an integer";
    case Kind::number:
    case Kind::literal:
      return "a number";
    case Kind::text:
      return "text";
    case Kind::integers:
      return "a list of integers";
    case Kind::dtype:
      return "a dtype";
  }
  return "";
}

// Makes an integer a double, or a list of one, where that is asked for.
bool coerce(Attribute& value, Kind kind) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (kind == Kind::number) value = static_cast<double>(*whole);
    if (kind == Kind::integers) value = Shape{*whole};
  }
  switch (kind) {
    case Kind::flag:
      return std::holds_alternative<bool>(value);
    case Kind::integer:
      return std::holds_alternative<std::int64_t>(value);
    case Kind::number:
      return std::holds_alternative<double>(value);
    case Kind::literal:
      return value.index() <= 2;  // bool, integer, double
    case Kind::text:
      return std::holds_alternative<std::string>(value);
    case Kind::integers:
      return std::holds_alternative<Shape>(value);
    case Kind::dtype:
      return std::holds_alternative<DType>(value);
  }
  return false;
}

void check_names(const OpRow& op, const Attributes& attributes) {
  std::vector<std::string> known;
  for (const AttributeSpec& spec : op.attributes) known.emplace_back(spec.name);
  for (const auto& [attribute, value] : attributes)
    if (std::ranges::find(known, attribute) == known.end())
      throw Error(known.empty() ? fmt::format("{}: expected no attributes, found '{}'", op.name, attribute)
                                : fmt::format("{}: expected one of the attributes {}, found '{}'{}", op.name,
                                              fmt::join(known, ", "), attribute, did_you_mean(attribute, known)));
}

void complete_attributes(const OpRow& op, Node& call) {
  check_names(op, call.attributes);
  for (const AttributeSpec& spec : op.attributes) {
    const auto found = call.attributes.find(spec.name);
    if (found == call.attributes.end()) {
      if (spec.required)
        throw Error(fmt::format("{}: expected {} ({}), found none", op.name, spec.name, name(spec.kind)));
      if (spec.fallback) call.attributes.emplace(spec.name, *spec.fallback);
    } else if (!coerce(found->second, spec.kind)) {
      throw Error(
          fmt::format("{}: expected {} for {}, found another kind of value", op.name, name(spec.kind), spec.name));
    }
  }
}

void check_count(const OpRow& op, const Call& call) {
  if (call.size() >= op.least && call.size() <= op.most) return;
  std::string range = std::to_string(op.least);
  if (op.most == any_number)
    range = fmt::format("at least {}", op.least);
  else if (op.most != op.least)
    range = fmt::format("{} to {}", op.least, op.most);
  call.expected(fmt::format("{} tensor argument{}", range, op.most == 1 ? "" : "s"), std::to_string(call.size()));
}

}  // namespace

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> names;
  for (const OpRow& row : table()) names.push_back(row.name);
  return names;
}

std::vector<std::string_view> attribute_names(std::string_view op) {
  const OpRow* row = find(op);
  CHECK(row);
  std::vector<std::string_view> names;
  for (const AttributeSpec& spec : row->attributes) names.push_back(spec.name);
  return names;
}

bool is_op(std::string_view name) { return find(name) != nullptr; }

TensorType infer(Node& call, std::span<const Node* const> args) {
  const OpRow* op = find(call.op);
  if (!op) {
    std::vector<std::string> names;
    for (const OpRow& row : table()) names.emplace_back(row.name);
    throw Error(fmt::format("expected an operation ({}), found '{}'{}", fmt::join(names, ", "), call.op,
                            did_you_mean(call.op, names)));
  }
  const Call context(call, args);
  check_count(*op, context);
  complete_attributes(*op, call);
  TensorType type = op->infer(context);
  check_type(call.op, type);
  return type;
}

bool is_default(const Node& call, std::span<const Node* const> args, std::string_view attribute) {
  const OpRow* op = find(call.op);
  CHECK(op);
  const auto spec = std::ranges::find(op->attributes, attribute, &AttributeSpec::name);
  CHECK(spec != op->attributes.end());
  if (spec->required) return false;
  const Attribute& value = call.attributes.find(attribute)->second;
  if (spec->fallback && spec->kind != Kind::integers) return value == *spec->fallback;
  Node without = call;  // what depends on the arguments, inferred anew
  without.attributes.erase(std::string(attribute));
  infer(without, args);
  return without.attributes.find(attribute)->second == value;
}

}  // namespace deplo::ir::torch
