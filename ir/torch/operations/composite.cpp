// Names for what is no operation of its own: nothing at all, a number, or several operations.
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

// clamp

Id bounded(const python::Call& c, Id x, std::string_view bound, std::string_view op) {
  if (!c.given(bound)) return x;
  const python::Value& value = c.value(bound);
  if (!is_tensor(value) && !to_number(value)) c.fail(bound, "a tensor or a number");
  return c.session.call(op, {x, c.session.operand(value, op, 1)});
}

python::Value call_clamp(const python::Call& c) {
  const Id x = c.tensor("input");
  const bool low = c.has("min") && c.given("min"), high = c.has("max") && c.given("max");
  if (!low && !high) c.fail(c.has("min") ? "min" : "max", "a number");
  const Id above = c.has("min") ? bounded(c, x, "min", "maximum") : x;
  return {python::Tensor{c.has("max") ? bounded(c, above, "max", "minimum") : above}};
}

std::vector<Id> read_clamp(pt2::Call& call) {
  Id x = call.tensor("self");
  if (call.has("min")) x = call.add("maximum", {x, call.operand("min")});
  if (call.has("max")) x = call.add("minimum", {x, call.operand("max")});
  return {x};
}

// The same elements

python::Value call_identity(const python::Call& c) { return {python::Tensor{c.tensor("input")}}; }

std::vector<Id> read_identity(pt2::Call& call) {
  call.ignore({"memory_format"});
  return {call.tensor("self")};
}

// Dropout: as in evaluation mode.
std::vector<Id> read_dropout(pt2::Call& call) {
  const Id x = call.tensor("input");
  if (call.flag("train", true) && call.number("p", 0.5) != 0) call.fail("train", "False (a model in eval mode)");
  call.ignore({"p"});
  return {x};
}

// Numbers

python::Value call_size(const python::Call& c) {
  const Shape& shape = c.type(c.tensor("input")).shape;
  return c.given("dim") ? python::Value{shape[c.dim("dim", shape.size())]} : python::make_tuple(shape);
}

python::Value call_dim(const python::Call& c) {
  return {static_cast<std::int64_t>(c.type(c.tensor("input")).shape.size())};
}

python::Value call_numel(const python::Call& c) { return {element_count(c.type(c.tensor("input")).shape)}; }

// Assertions about types and sizes: the shapes are static, PyTorch has checked them.
std::vector<Id> read_nothing(pt2::Call& call) {
  call.ignore({"self", "a", "size", "stride", "dtype", "device", "layout", "assert_msg", "min", "max", "dep_token"});
  return {};
}

}  // namespace

// clang-format off
std::vector<python::Function> composite_functions() {
  return {
      {"clamp", either, "input, min=None, max=None", call_clamp},
      {"clip", either, "input, min=None, max=None", call_clamp},
      {"clamp_min", either, "input, min", call_clamp},
      {"clamp_max", either, "input, max", call_clamp},
      {"contiguous", as_method, "input", call_identity},
      {"clone", either, "input", call_identity},
      {"detach", either, "input", call_identity},
      {"cpu", as_method, "input", call_identity},
      {"cuda", as_method, "input", call_identity},
      {"dropout", in_functional, "input, p=0.5, training=True, inplace=False", call_identity},
      {"dropout", in_torch, "input, p, train", call_identity},
      {"size", as_method, "input, dim=None", call_size},
      {"dim", as_method, "input", call_dim},
      {"numel", either, "input", call_numel},
  };
}

std::vector<pt2::Function> composite_readers() {
  return {
      {"aten.clamp", read_clamp},
      {"aten.clamp_max", read_clamp},
      {"aten.clamp_min", read_clamp},
      {"aten.alias", read_identity},
      {"aten.clone", read_identity},
      {"aten.contiguous", read_identity},
      {"aten.detach", read_identity},
      {"aten.detach_", read_identity},
      {"aten.lift_fresh_copy", read_identity},
      {"aten.dropout", read_dropout},
      {"aten.native_dropout", read_dropout},
      {"aten._assert_async", read_nothing},
      {"aten._assert_scalar", read_nothing},
      {"aten._assert_tensor_metadata", read_nothing},
      {"aten.sym_constrain_range", read_nothing},
      {"aten.sym_constrain_range_for_size", read_nothing},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
