// Functions that make a tensor without an operation. Random tensors are inputs of the graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/mapped.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/sequence.h"
#include "ir/torch/operations/family.h"
#include "ir/torch/operations/infer.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch::python {
namespace {

Value random(const Call& c, Shape shape, DType dtype, Fill fill) {
  if (!is_float(dtype)) c.fail("dtype", "a dtype of floats");
  return {c.session.make_leaf({dtype, std::move(shape)}, fill, false)};
}

// Numbers of the standard normal distribution, or between 0 and 1.
template <Fill::Draw draw>
Value drawn(const Call& c) {
  return random(c, c.integers("size"), c.dtype("dtype", c.session.default_dtype), {draw, 0, 1});
}
template <Fill::Draw draw>
Value drawn_like(const Call& c) {
  const TensorType& type = c.type(c.tensor("input"));
  return random(c, type.shape, c.dtype("dtype", type.dtype), {draw, 0, 1});
}

// Evaluates randint(high, size) and randint(low, high, size).
Value randint(const Call& c) {
  const bool both = c.given("size");
  const std::string_view high = both || !c.given("low") ? "high" : "low", size = both ? "size" : "high";
  const std::int64_t low = both && c.given("low") ? c.integer("low") : 0, end = c.integer(high);
  constexpr std::int64_t limit = std::int64_t{1} << 53;
  if (low < -limit || end > limit || low >= end) c.fail(high, fmt::format("more than {} and at most 2^53", low));
  const Fill fill = {Fill::Draw::integers, static_cast<double>(low), static_cast<double>(end)};
  return {c.session.make_leaf({c.dtype("dtype", DType::i64), c.integers(size)}, fill, false)};
}

Value set_default_dtype(const Call& c) {
  const DType dtype = c.dtype("d");
  if (!is_float(dtype)) c.fail("d", "a dtype of floats");
  c.session.default_dtype = dtype;
  return {};
}

Value get_default_dtype(const Call& c) { return {c.session.default_dtype}; }

bool is_without_dimensions(const Call& c, const Value& value) {
  return is_tensor(value) && c.session.type_of(value).shape.empty();
}

/// Collects the numbers of nested lists, and the shape of the lists. Tensors without dimensions count as numbers.
void flatten(const Call& c, const Value& data, std::size_t level, Shape& shape, std::vector<Value>& numbers) {
  const List* list = data.as<List>();
  if (!list) {
    const bool is_one = to_number(data) || is_without_dimensions(c, data);
    if (level != shape.size() || !is_one) c.fail("data", "numbers in lists of equal lengths");
    numbers.push_back(data);
    return;
  }
  const auto count = static_cast<std::int64_t>(list->items->size());
  if (level >= max_dimensions) c.fail("data", fmt::format("at most {} nested lists", max_dimensions));
  if (numbers.empty() && level == shape.size()) shape.push_back(count);
  if (level >= shape.size() || shape[level] != count) c.fail("data", "numbers in lists of equal lengths");
  c.session.spend(list->items->size());
  for (const Value& item : *list->items) flatten(c, item, level + 1, shape, numbers);
}

/// Returns the dtype of a tensor of floats before it is converted to a requested dtype. A float is rounded once.
DType dtype_of_floats(const Call& c) {
  const bool requested = c.given("dtype") && is_float(c.dtype("dtype"));
  return requested ? c.dtype("dtype") : c.session.default_dtype;
}

/// Returns a tensor without dimensions. A scalar node would be a number of Python, which is promoted in another way. It
/// stands only for integers that `full` does not take.
Id without_dimensions(const Call& c, const Value& number) {
  constexpr double limit = 0x1p53;
  const double value = *to_number(number);
  if (to_integer(number) && std::abs(value) > limit) return c.session.operand(number, "tensor", 0);
  const DType dtype = number.as<bool>() ? DType::boolean : to_integer(number) ? DType::i64 : dtype_of_floats(c);
  return c.session.call("full", {}, {{"shape", Shape{}}, {"value", value}, {"dtype", dtype}});
}

/// Returns the dtype of a tensor of this number alone.
DType dtype_of(const Call& c, const Value& number) {
  if (is_tensor(number)) return c.session.type_of(number).dtype;
  return number.as<double>() ? dtype_of_floats(c) : number.as<bool>() ? DType::boolean : DType::i64;
}

/// Returns a constant vector of numbers, or nullopt if they are few or some are tensors.
std::optional<Id> table_of(const Call& c, const std::vector<Value>& numbers, DType dtype) {
  constexpr std::size_t min_table = 16;  // shorter lists are chosen by comparisons, without a load from memory
  if (numbers.size() < min_table || std::ranges::any_of(numbers, is_tensor)) return std::nullopt;
  if (is_float(dtype)) {
    Numbers values(DType::f64, numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double number = *to_number(numbers[i]);
      values.set(i, is_float16(dtype) ? rounded(number, dtype) : number);
    }
    return c.session.cast(caller_of(c).list(std::move(values)), dtype);
  }
  std::vector<std::int64_t> values = mapped(numbers, [](const Value& number) { return *to_integer(number); });
  return c.session.cast(caller_of(c).list(std::move(values)), dtype);
}

/// Returns a new vector of one number.
Id vector_of(const Call& c, const Value& number, DType dtype) {
  if (!is_tensor(number))
    return c.session.call("full", {}, {{"shape", Shape{1}}, {"value", *to_number(number)}, {"dtype", dtype}});
  const Id copy = c.session.cast(c.session.copy(c.session.tensor(number)), dtype);
  return c.session.call("reshape", {copy}, {{"shape", Shape{1}}});
}

// Makes a tensor. For a list, the numbers are joined and reshaped.
Value tensor(const Call& c) {
  const Value& data = c.value("data");
  if (is_tensor(data)) {
    const Id id = c.converted("data");
    return {Tensor{c.name == "tensor" ? c.session.copy(id) : id}};  // as_tensor returns the same tensor
  }
  const auto typed = [&](Id id) { return Value{Tensor{c.given("dtype") ? c.session.cast(id, c.dtype("dtype")) : id}}; };
  const auto check = [&](const Value& number) {
    const bool narrow = c.given("dtype") && is_narrow_integer(c.dtype("dtype"));
    if (narrow && to_number(number) && !is_held(std::trunc(*to_number(number)), c.dtype("dtype")))
      c.fail("data", fmt::format("numbers that {} holds", torch_name(c.dtype("dtype"))));
  };
  if (!data.as<List>()) {
    if (!to_number(data)) c.fail("data", "a number or a list of numbers");
    check(data);
    return typed(without_dimensions(c, data));
  }
  Shape shape;
  std::vector<Value> numbers;
  flatten(c, data, 0, shape, numbers);
  if (numbers.empty()) c.fail("data", "at least one number");
  std::ranges::for_each(numbers, check);
  DType dtype = dtype_of(c, numbers[0]);
  for (const Value& number : numbers) dtype = promote_types(dtype, dtype_of(c, number));
  if (const std::optional<Id> table = table_of(c, numbers, dtype))
    return typed(c.session.call("reshape", {*table}, {{"shape", shape}}));
  const std::vector<Id> parts = mapped(numbers, [&](const Value& number) { return vector_of(c, number, dtype); });
  const Id flat = parts.size() == 1 ? parts[0] : c.session.call("cat", parts, {{"dim", std::int64_t{0}}});
  return typed(c.session.call("reshape", {flat}, {{"shape", shape}}));
}

/// Random numbers that arithmetic with constants has changed, and their distribution.
struct Drawing {
  Id input;  // the input with the random numbers
  Fill fill;
};

std::optional<Drawing> scaled(const Node& node, double number, bool number_left, Drawing d) {
  const bool is_normal = d.fill.draw == Fill::Draw::normal;
  if (node.op == "mul" || (node.op == "div" && !number_left)) {
    const double factor = node.op == "mul" ? number : 1 / number;
    d.fill = {d.fill.draw, d.fill.a * factor, is_normal ? std::abs(d.fill.b * factor) : d.fill.b * factor};
    return d;
  }
  if (node.op == "add" || (node.op == "sub" && !number_left)) {
    const double shift = node.op == "add" ? number : -number;
    d.fill = {d.fill.draw, d.fill.a + shift, is_normal ? d.fill.b : d.fill.b + shift};
    return d;
  }
  return {};
}

/// Returns how the values of a node are drawn, or nullopt if they are not random numbers that only constants change.
std::optional<Drawing> drawing_of(const Session& session, Id id) {
  const Node& node = session.node(id);
  const bool random = node.kind == Node::Kind::input && node.source.fill.draw != Fill::Draw::integers;
  if (random) return Drawing{id, node.source.fill};
  const bool copies = node.op == "to" && node.type == session.type(node.args[0]);
  if (copies || node.op == "reshape") return drawing_of(session, node.args[0]);
  if (node.args.size() != 2) return {};
  const Node &left = session.node(node.args[0]), &right = session.node(node.args[1]);
  const bool number_left = left.kind == Node::Kind::scalar;
  if (!number_left && right.kind != Node::Kind::scalar) return {};
  const std::optional<Drawing> drawing = drawing_of(session, node.args[number_left ? 1 : 0]);
  return drawing ? scaled(node, number_left ? left.value : right.value, number_left, *drawing) : drawing;
}

/// Returns the value that all elements share, if they are equal and depend on no input or parameter.
std::optional<double> constant_of(const Call& c, const Value& data) {
  try {
    const torch::Values values = known_values(c.session, data);
    const bool equal = !values.empty() && std::ranges::all_of(values, [&](double v) { return v == values[0]; });
    return equal ? std::optional(values[0]) : std::nullopt;
  } catch (const Error&) {
    return {};
  }
}

/// Returns a uniform distribution over the range of the tensor's values in one sample, and the inputs that the tensor
/// depends on. Returns nullopt if the tensor is not made of random numbers only.
std::optional<Fill> range_of(const Call& c, const Value& data, std::vector<Id>& inputs) {
  try {
    const torch::Values values = sample_values(c.session, data, inputs);
    if (inputs.empty() || values.empty()) return {};
    const auto [min, max] = std::ranges::minmax(values);
    if (!std::isfinite(min) || !std::isfinite(max)) return {};
    return min < max ? Fill{Fill::Draw::uniform, min, max} : Fill{Fill::Draw::constant, min, 0};
  } catch (const Error&) {
    return {};
  }
}

// Makes a parameter of a new tensor of random or equal numbers. Other tensors stay what they are in the graph.
Value parameter(const Call& c) {
  const Value& data = c.value("data");
  if (!is_tensor(data)) c.fail("data", "a tensor");
  if (const auto* leaf = data.as<Leaf*>()) {
    if (!(*leaf)->id) (*leaf)->parameter = true;
    return (*leaf)->parameter ? data : Value{Tensor{*(*leaf)->id, false, true}};
  }
  const Id id = c.tensor("data");
  if (const auto drawing = drawing_of(c.session, id))
    return {c.session.draw_parameter(id, drawing->fill, {drawing->input})};
  std::vector<Id> inputs;
  if (const auto fill = range_of(c, data, inputs)) return {c.session.draw_parameter(id, *fill, inputs)};
  if (const auto constant = constant_of(c, data))
    return {c.session.draw_parameter(id, {Fill::Draw::constant, *constant, 0}, {})};
  return {Tensor{data.as<Tensor>()->id, false, true}};
}

// torch.Tensor(2, 3) makes zeros, because its values are unspecified. torch.Tensor([1, 2]) makes a tensor of these
// values.
Value tensor_of(const Call& c, DType dtype) {
  const List* size = c.value("size").as<List>();
  const bool shape =
      size->tuple && std::ranges::all_of(*size->items, [](const Value& v) { return v.as<std::int64_t>(); });
  if (!shape)
    return tensor(Call(c.session, "Tensor", "data, *, dtype=None", {{c.value("size")}, {{"dtype", Value{dtype}}}}));
  return {Tensor{c.session.call("full", {}, {{"shape", c.integers("size")}, {"value", 0.0}, {"dtype", dtype}})}};
}
Value float_tensor(const Call& c) { return tensor_of(c, c.session.default_dtype); }
template <DType dtype>
Value new_tensor(const Call& c) {
  return tensor_of(c, dtype);
}

// clang-format off
constexpr std::array random_rows = {
    Function{"randn", in_torch, "*size, dtype=None, device=None, requires_grad=False", drawn<Fill::Draw::normal>},
    Function{"rand", in_torch, "*size, dtype=None, device=None, requires_grad=False", drawn<Fill::Draw::uniform>},
    Function{"randn_like", in_torch, "input, *, dtype=None, device=None, requires_grad=False",
             drawn_like<Fill::Draw::normal>},
    Function{"rand_like", in_torch, "input, *, dtype=None, device=None, requires_grad=False",
             drawn_like<Fill::Draw::uniform>},
    Function{"randint", in_torch, "low=None, high=None, size=None, *, dtype=None, device=None", randint},
    Function{"tensor", in_torch, "data, *, dtype=None, device=None, requires_grad=False", tensor},
    Function{"as_tensor", in_torch, "data, *, dtype=None, device=None, requires_grad=False", tensor},
    Function{"Tensor", in_torch, "*size", float_tensor},
    Function{"FloatTensor", in_torch, "*size", new_tensor<DType::f32>},
    Function{"HalfTensor", in_torch, "*size", new_tensor<DType::f16>},
    Function{"BFloat16Tensor", in_torch, "*size", new_tensor<DType::bf16>},
    Function{"LongTensor", in_torch, "*size", new_tensor<DType::i64>},
    Function{"IntTensor", in_torch, "*size", new_tensor<DType::i32>},
    Function{"ShortTensor", in_torch, "*size", new_tensor<DType::i16>},
    Function{"CharTensor", in_torch, "*size", new_tensor<DType::i8>},
    Function{"ByteTensor", in_torch, "*size", new_tensor<DType::u8>},
    Function{"BoolTensor", in_torch, "*size", new_tensor<DType::boolean>},
    Function{"set_default_dtype", in_torch, "d", set_default_dtype},
    Function{"get_default_dtype", in_torch, "", get_default_dtype},
    Function{"Parameter", in_nn, "data, requires_grad=True", parameter},
};
// clang-format on

}  // namespace

std::span<const Function> random_functions() { return random_rows; }

}  // namespace deplo::ir::torch::python
