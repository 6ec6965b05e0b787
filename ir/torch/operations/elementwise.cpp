// Types of the operations that work element by element.
#include "ir/torch/operations/op_rows.h"

namespace deplo::ir::torch {
namespace {

TensorType pair_type(const Call& call) {
  return {promote(call.arg(0), call.arg(1)), broadcast(call.op(), call.shape(0), call.shape(1))};
}

// Of the dtype that two arguments make together, where `a` and `b` are not the first two.
DType promoted(const Call& call, std::size_t a, std::size_t b) { return promote(call.arg(a), call.arg(b)); }

}  // namespace

TensorType infer_float_unary(const Call& call) {
  return {is_float(call.dtype(0)) ? call.dtype(0) : DType::f32, call.shape(0)};
}

TensorType infer_number_unary(const Call& call) {
  if (call.dtype(0) == DType::boolean) call.expected("numbers");
  return call.type(0);
}

TensorType infer_activation(const Call& call) {
  if (!is_float(call.dtype(0))) call.expected("floating-point numbers");
  return call.type(0);
}

TensorType infer_logical_not(const Call& call) { return {DType::boolean, call.shape(0)}; }

TensorType infer_gelu(const Call& call) {
  const std::string& form = call.node().text("approximate");
  if (form != "none" && form != "tanh") call.expected("approximate 'none' or 'tanh'", "'" + form + "'");
  return infer_activation(call);
}

TensorType infer_arithmetic(const Call& call) { return pair_type(call); }

TensorType infer_sub(const Call& call) {
  if (call.dtype(0) == DType::boolean && call.dtype(1) == DType::boolean) call.expected("numbers");
  return pair_type(call);
}

TensorType infer_div(const Call& call) {
  TensorType type = pair_type(call);
  if (!is_float(type.dtype)) type.dtype = DType::f32;
  return type;
}

TensorType infer_pow(const Call& call) {
  TensorType type = pair_type(call);
  if (type.dtype == DType::boolean) call.expected("numbers");
  const Node& exponent = call.arg(1);
  if (!is_float(type.dtype) && exponent.kind == Node::Kind::scalar && exponent.value < 0)
    call.expected("an exponent of at least 0 for integers", std::to_string(static_cast<std::int64_t>(exponent.value)));
  return type;
}

TensorType infer_truth(const Call& call) {
  return {DType::boolean, broadcast(call.op(), call.shape(0), call.shape(1))};
}

TensorType infer_where(const Call& call) {
  if (call.dtype(0) != DType::boolean) call.expected("a condition of dtype bool");
  const Shape values = broadcast(call.op(), call.shape(1), call.shape(2));
  return {promoted(call, 1, 2), broadcast(call.op(), call.shape(0), values)};
}

TensorType infer_masked_fill(const Call& call) {
  if (call.dtype(1) != DType::boolean) call.expected("a mask of dtype bool");
  if (call.rank(2) != 0) call.expected("a value of no dimensions");
  if (promoted(call, 0, 2) != call.dtype(0)) call.expected("a value that the tensor's dtype can hold");
  return {call.dtype(0), broadcast(call.op(), call.shape(0), call.shape(1))};
}

TensorType infer_to(const Call& call) { return {std::get<DType>(call.node().attributes.at("dtype")), call.shape(0)}; }

}  // namespace deplo::ir::torch
