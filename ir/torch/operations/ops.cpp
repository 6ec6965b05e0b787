#include "ir/torch/operations/ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"
#include "core/text/match.h"
#include "core/text/nearest.h"
#include "ir/text/constant.h"
#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

using Kind = AttributeKind;

constexpr double float_epsilon = 0x1p-23;  // torch.finfo(torch.float32).eps

constexpr AttributeSpec dim_spec[] = {{"dim", Kind::integer, Required{}}};
constexpr AttributeSpec join_spec[] = {{"dim", Kind::integer, std::int64_t{0}}};
constexpr AttributeSpec transpose_spec[] = {{"dim0", Kind::integer, Required{}}, {"dim1", Kind::integer, Required{}}};
constexpr AttributeSpec permute_spec[] = {{"dims", Kind::integers, Required{}}};
constexpr AttributeSpec squeeze_spec[] = {{"dims", Kind::integers, Computed{}}};
constexpr AttributeSpec shape_spec[] = {{"shape", Kind::integers, Required{}}};
constexpr AttributeSpec slice_spec[] = {{"dim", Kind::integer, Required{}},
                                        {"start", Kind::integer, std::int64_t{0}},
                                        {"end", Kind::integer, Computed{}},
                                        {"step", Kind::integer, std::int64_t{1}}};
constexpr AttributeSpec select_spec[] = {{"dim", Kind::integer, Required{}}, {"index", Kind::integer, Required{}}};
constexpr AttributeSpec triangle_spec[] = {{"diagonal", Kind::integer, std::int64_t{0}}};
constexpr AttributeSpec reduce_spec[] = {{"dims", Kind::integers, Computed{}}, {"keepdim", Kind::flag, false}};
constexpr AttributeSpec var_spec[] = {{"dims", Kind::integers, Computed{}},
                                      {"keepdim", Kind::flag, false},
                                      {"correction", Kind::integer, std::int64_t{1}}};
constexpr AttributeSpec layer_norm_spec[] = {{"dims", Kind::integer, Required{}}, {"eps", Kind::number, 1e-5}};
constexpr AttributeSpec rms_norm_spec[] = {{"dims", Kind::integer, Required{}}, {"eps", Kind::number, float_epsilon}};
constexpr AttributeSpec gelu_spec[] = {{"approximate", Kind::text, std::string_view("none")}};
constexpr AttributeSpec attention_spec[] = {
    {"is_causal", Kind::flag, false}, {"scale", Kind::number, Computed{}}, {"enable_gqa", Kind::flag, false}};
constexpr AttributeSpec arange_spec[] = {{"start", Kind::integer, std::int64_t{0}},
                                         {"end", Kind::integer, Required{}},
                                         {"step", Kind::integer, std::int64_t{1}},
                                         {"dtype", Kind::dtype, Computed{}}};
constexpr AttributeSpec full_spec[] = {
    {"shape", Kind::integers, Required{}}, {"value", Kind::literal, Required{}}, {"dtype", Kind::dtype, Computed{}}};
constexpr AttributeSpec to_spec[] = {{"dtype", Kind::dtype, Required{}}};

constexpr std::array table = std::to_array<OpRow>({
    {"abs", 1, 1, infer_number_unary, {}},
    {"add", 2, 2, infer_arithmetic, {}},
    {"amax", 1, 1, infer_extremum, reduce_spec},
    {"amin", 1, 1, infer_extremum, reduce_spec},
    {"arange", 0, 0, infer_arange, arange_spec},
    {"cat", 1, any_number, infer_cat, join_spec},
    {"cos", 1, 1, infer_float_unary, {}},
    {"div", 2, 2, infer_div, {}},
    {"embedding", 2, 2, infer_embedding, {}},
    {"eq", 2, 2, infer_truth, {}},
    {"erf", 1, 1, infer_float_unary, {}},
    {"exp", 1, 1, infer_float_unary, {}},
    {"expand", 1, 1, infer_expand, shape_spec},
    {"full", 0, 0, infer_full, full_spec},
    {"gather", 2, 2, infer_gather, dim_spec},
    {"ge", 2, 2, infer_truth, {}},
    {"gelu", 1, 1, infer_gelu, gelu_spec},
    {"gt", 2, 2, infer_truth, {}},
    {"layer_norm", 1, 3, infer_norm, layer_norm_spec},
    {"le", 2, 2, infer_truth, {}},
    {"linear", 2, 3, infer_linear, {}},
    {"log", 1, 1, infer_float_unary, {}},
    {"log_softmax", 1, 1, infer_softmax, dim_spec},
    {"logical_and", 2, 2, infer_truth, {}},
    {"logical_not", 1, 1, infer_logical_not, {}},
    {"logical_or", 2, 2, infer_truth, {}},
    {"lt", 2, 2, infer_truth, {}},
    {"masked_fill", 3, 3, infer_masked_fill, {}},
    {"matmul", 2, 2, infer_matmul, {}},
    {"maximum", 2, 2, infer_arithmetic, {}},
    {"mean", 1, 1, infer_mean, reduce_spec},
    {"minimum", 2, 2, infer_arithmetic, {}},
    {"mul", 2, 2, infer_arithmetic, {}},
    {"ne", 2, 2, infer_truth, {}},
    {"neg", 1, 1, infer_number_unary, {}},
    {"permute", 1, 1, infer_permute, permute_spec},
    {"pow", 2, 2, infer_pow, {}},
    {"prod", 1, 1, infer_sum, reduce_spec},
    {"reciprocal", 1, 1, infer_float_unary, {}},
    {"relu", 1, 1, infer_number_unary, {}},
    {"reshape", 1, 1, infer_reshape, shape_spec},
    {"rms_norm", 1, 2, infer_norm, rms_norm_spec},
    {"rsqrt", 1, 1, infer_float_unary, {}},
    {"scaled_dot_product_attention", 3, 4, infer_attention, attention_spec},
    {"select", 1, 1, infer_select, select_spec},
    {"sigmoid", 1, 1, infer_float_unary, {}},
    {"silu", 1, 1, infer_activation, {}},
    {"sin", 1, 1, infer_float_unary, {}},
    {"slice", 1, 1, infer_slice, slice_spec},
    {"softmax", 1, 1, infer_softmax, dim_spec},
    {"sqrt", 1, 1, infer_float_unary, {}},
    {"squeeze", 1, 1, infer_squeeze, squeeze_spec},
    {"stack", 1, any_number, infer_stack, join_spec},
    {"sub", 2, 2, infer_sub, {}},
    {"sum", 1, 1, infer_sum, reduce_spec},
    {"tanh", 1, 1, infer_float_unary, {}},
    {"to", 1, 1, infer_to, to_spec},
    {"transpose", 1, 1, infer_transpose, transpose_spec},
    {"tril", 1, 1, infer_triangle, triangle_spec},
    {"triu", 1, 1, infer_triangle, triangle_spec},
    {"unsqueeze", 1, 1, infer_unsqueeze, dim_spec},
    {"var", 1, 1, infer_mean, var_spec},
    {"where", 3, 3, infer_where, {}},
});
static_assert(std::ranges::is_sorted(table, {}, &OpRow::name));

const OpRow* find(std::string_view name) {
  const auto at = std::ranges::lower_bound(table, name, {}, &OpRow::name);
  return at != table.end() && at->name == name ? &*at : nullptr;
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

// Makes an integer a double, or a list of one, where that is asked for; of a double, what f32 has.
bool coerce(Attribute& value, Kind kind) {
  if (auto* number = std::get_if<double>(&value)) *number = f32_constant(*number);
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

std::optional<Attribute> fallback(const AttributeSpec& spec) {
  using Result = std::optional<Attribute>;
  return match(
      spec.fallback, [](Required) -> Result { return std::nullopt; }, [](Computed) -> Result { return std::nullopt; },
      [](std::string_view text) -> Result { return std::string(text); }, [](auto value) -> Result { return value; });
}

void complete_attributes(const OpRow& op, Node& call) {
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
  for (const OpRow& row : table) names.push_back(row.name);
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
    for (const OpRow& row : table) names.emplace_back(row.name);
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
  if (std::holds_alternative<Required>(spec->fallback)) return false;
  const Attribute& value = call.attributes.find(attribute)->second;
  if (const auto given = fallback(*spec)) return value == *given;
  Node without = call;  // what depends on the arguments, inferred anew
  without.attributes.erase(std::string(attribute));
  infer(without, args);
  return without.attributes.find(attribute)->second == value;
}

}  // namespace deplo::ir::torch
