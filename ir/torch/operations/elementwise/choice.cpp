// Selection of elements by a mask, and conversions.
//   where(T condition, T, T)   masked_fill(T, T mask, T value)   to(T, dtype)
#include <algorithm>
#include <array>

#include "ir/torch/operations/given.h"
#include "ir/torch/operations/ops.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir::torch {
namespace {

// where

TensorType infer_where(const Inference& call) {
  if (call.dtype(0) != DType::boolean) call.expected("a condition of dtype bool");
  const Shape values = broadcast(call.op(), call.shape(1), call.shape(2));
  return {promote(call.arg(1), call.arg(2)), broadcast(call.op(), call.shape(0), values)};
}

Values evaluate_where(const Operands& o) {
  Values result;
  result.reserve(o.result_count());
  const std::array strides = {broadcast_strides(o.shape(0), o.result()), broadcast_strides(o.shape(1), o.result()),
                              broadcast_strides(o.shape(2), o.result())};
  for_each_index(o.result(), strides, [&](std::size_t condition, std::size_t i, std::size_t j) {
    result.push_back(o.value(0)[condition] != 0 ? o.value(1)[i] : o.value(2)[j]);
  });
  return result;
}

int decompose_where(Emitter& e, const TensorCall& call) {
  const int condition = operand(e, call, 0, DType::boolean);
  const int a = operand(e, call, 1, call.dtype()), b = operand(e, call, 2, call.dtype());
  return e.elementwise(Op::select, {condition, a, b}, "ew");
}

Id where(const Given& g) {
  const Id condition = g.tensor("condition"), yes = g.operand("input");
  return g.where(condition, yes, g.operand("other", 2));
}

// torch.where(condition), without values, returns the indices of the true elements.
std::vector<Id> read_where(pt2::Call& call) {
  if (call.has("self")) return read_made<where>(call);
  std::vector<Id> places;
  for (const std::optional<Id>& index :
       without_masks(caller_of(call), {call.to(call.tensor("condition"), DType::boolean)}))
    places.push_back(*index);
  return places;
}

// masked_fill

TensorType infer_masked_fill(const Inference& call) {
  if (call.dtype(1) != DType::boolean) call.expected("a mask of dtype bool");
  if (call.rank(2) != 0) call.expected("a value without dimensions");
  if (promote(call.arg(0), call.arg(2)) != call.dtype(0)) call.expected("a value that the tensor's dtype can hold");
  return {call.dtype(0), broadcast(call.op(), call.shape(0), call.shape(1))};
}

Values evaluate_masked_fill(const Operands& o) {
  return evaluate_broadcast(o, [&](double x, double mask) { return mask != 0 ? o.value(2)[0] : x; });
}

int decompose_masked_fill(Emitter& e, const TensorCall& call) {
  const int x = operand(e, call, 0, call.dtype()), mask = operand(e, call, 1, DType::boolean);
  return e.elementwise(Op::select, {mask, operand(e, call, 2, call.dtype()), x}, "ew");
}

Id masked_fill(const Given& g) {
  const Id x = g.tensor("input"), mask = g.tensor("mask");
  return g.call("masked_fill", {x, mask, g.operand("value", 2)});
}

// to

constexpr AttributeSpec to_attributes[] = {{"dtype", Kind::dtype, Required{}}};

TensorType infer_to(const Inference& call) {
  return {std::get<DType>(call.node().attributes.at("dtype")), call.shape(0)};
}

Values evaluate_to(const Operands& o) {
  const DType from = o.args[0]->type.dtype, to = o.node.type.dtype;
  if (from == to) return o.value(0);
  Values result(o.value(0).size());
  std::ranges::transform(o.value(0), result.begin(), [from, to](double x) {
    return is_integer(to) ? to_integer(x, from, to) : to == DType::boolean ? to_truth(x) : rounded(x, to);
  });
  return result;
}

int decompose_to(Emitter& e, const TensorCall& call) {
  const int x = call.args[0];
  const DType to = call.dtype();
  return e.dtype(x) != to && is_float16(to) ? e.round(e.convert(x, DType::f32), to) : e.convert(x, to);
}

python::Value call_to(const python::Call& c) {
  const Id x = c.tensor("input");
  const python::Value& target = c.value("other");
  if (c.given("dtype")) return {python::Tensor{c.converted("input")}};
  if (target.as<DType>() || target.as<python::Builtin>()) return {python::Tensor{c.session.cast(x, c.dtype("other"))}};
  if (is_tensor(target)) return {python::Tensor{c.session.cast(x, c.type(c.tensor("other")).dtype)}};
  if (!target.none() && !target.as<std::string_view>()) c.fail("other", "a dtype, a tensor or a device");
  return {python::Tensor{x}};  // `target` is a device
}

python::Value call_type_as(const python::Call& c) {
  const Id x = c.tensor("input");
  return {python::Tensor{c.session.cast(x, c.type(c.tensor("other")).dtype)}};
}

template <DType dtype>
python::Value call_cast(const python::Call& c) {
  return {python::Tensor{c.session.cast(c.tensor("input"), c.session.computed(dtype))}};
}

// The file states the resulting dtype.
std::vector<Id> read_to(pt2::Call& call) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "non_blocking", "memory_format", "copy", "other"});
  return {call.to(call.tensor("self"), call.output_type().dtype)};
}

}  // namespace

// clang-format off
std::vector<Operation> choice_operations() {
  return {
      {"masked_fill", 3, 3, {}, infer_masked_fill, evaluate_masked_fill, decompose_masked_fill,
       {{"masked_fill", either, "input, mask, value", call_made<masked_fill>}},
       {{"aten.masked_fill", read_made<masked_fill>}}},
      {"to", 1, 1, to_attributes, infer_to, evaluate_to, decompose_to,
       {{"to", as_method,
         "input, other=None, dtype=None, non_blocking=False, copy=False, *, device=None, memory_format=None", call_to},
        {"type_as", as_method, "input, other", call_type_as},
        {"float", as_method, "input", call_cast<DType::f32>},
        {"double", as_method, "input", call_cast<DType::f64>},
        {"half", as_method, "input", call_cast<DType::f16>},
        {"bfloat16", as_method, "input", call_cast<DType::bf16>},
        {"int", as_method, "input", call_cast<DType::i32>},
        {"long", as_method, "input", call_cast<DType::i64>},
        {"byte", as_method, "input", call_cast<DType::u8>},
        {"char", as_method, "input", call_cast<DType::i8>},
        {"short", as_method, "input", call_cast<DType::i16>},
        {"bool", as_method, "input", call_cast<DType::boolean>}},
       {{"aten.to", read_to}, {"aten._to_copy", read_to}, {"aten.type_as", read_to}}},
      {"where", 3, 3, {}, infer_where, evaluate_where, decompose_where,
       {{"where", in_torch, "condition, input, other", call_made<where>},
        {"where", as_method, "input, condition, other", call_made<where>}},
       {{"aten.where", read_where}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
