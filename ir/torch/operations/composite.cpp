// Names without an operation of their own. Each becomes nothing at all, a number, or several operations.
#include <fmt/format.h>

#include "core/error.h"
#include "ir/torch/operations/given.h"

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
  if (!c.given("min") && !c.given("max")) c.fail(c.has("min") ? "min" : "max", "a number");
  return {python::Tensor{bounded(c, bounded(c, x, "min", "maximum"), "max", "minimum")}};
}

std::vector<Id> read_clamp(pt2::Call& call) {
  Id x = call.tensor("self");
  if (call.has("min")) x = call.add("maximum", {x, call.operand("min")});
  if (call.has("max")) x = call.add("minimum", {x, call.operand("max")});
  return {x};
}

// Functions that return their input unchanged

Id unchanged(const Given& g) {
  g.ignore({"memory_format"});
  return g.tensor("input");
}

// clone() returns a new tensor; contiguous() returns a new tensor or the same one.
python::Value call_clone(const python::Call& c) { return {python::Tensor{c.session.copy(c.tensor("input"))}}; }
// The caller of all functions lays a result out as `memory_format` says.
python::Value call_contiguous(const python::Call& c) {
  const Id x = c.tensor("input");
  return {c.given("memory_format") ? python::Tensor{x} : c.session.contiguous(x)};
}

// Dropout in evaluation mode, which returns its input.
std::vector<Id> read_dropout(pt2::Call& call) {
  const Id x = call.tensor(call.has("input") ? "input" : "self");
  if (call.flag("train", true) && call.number("p", 0.5) != 0) call.fail("train", "False (a model in eval mode)");
  call.ignore({"p"});
  return {x};
}

// Functions that return numbers

TensorType type_of_input(const python::Call& c) {
  if (!is_tensor(c.value("input"))) c.fail("input", "a tensor");
  return c.session.type_of(c.value("input"));
}

python::Value call_size(const python::Call& c) {
  const Shape shape = type_of_input(c).shape;
  return c.given("dim") ? python::Value{shape[c.dim("dim", shape.size())]} : python::make_tuple(shape);
}

python::Value call_dim(const python::Call& c) { return {static_cast<std::int64_t>(type_of_input(c).shape.size())}; }

python::Value call_numel(const python::Call& c) { return {element_count(type_of_input(c).shape)}; }

// Assertions about types and sizes become nothing: the shapes are static, and PyTorch has checked them.
std::vector<Id> read_nothing(pt2::Call& call) {
  call.ignore({"self", "a", "size", "stride", "dtype", "device", "layout", "assert_msg", "min", "max", "dep_token"});
  return {};
}

// Reads a check of a number. Its outcome is known if the number follows from the sizes of the program.
std::vector<Id> read_check(pt2::Call& call) {
  if (!call.is_symbol("self") && call.number("self", 1) == 0)
    throw Error(fmt::format("expected sizes that the program allows: {}", call.text("assert_msg", "")));
  return read_nothing(call);
}

}  // namespace

// clang-format off
Composites other_composites() {
  return {{
      {"clamp", either, "input, min=None, max=None", call_clamp},
      {"clip", either, "input, min=None, max=None", call_clamp},
      {"clamp_min", either, "input, min", call_clamp},
      {"clamp_max", either, "input, max", call_clamp},
      {"contiguous", as_method, "input, memory_format=None", call_contiguous},
      {"clone", either, "input, *, memory_format=None", call_clone},
      {"detach", either, "input", call_made<unchanged>},
      {"cpu", as_method, "input", call_made<unchanged>},
      {"cuda", as_method, "input, device=None, non_blocking=False", call_made<unchanged>},
      {"dropout", in_functional, "input, p=0.5, training=True, inplace=False", call_made<unchanged>},
      {"dropout", in_torch, "input, p, train", call_made<unchanged>},
      {"size", as_method, "input, dim=None", call_size},
      {"dim", as_method, "input", call_dim},
      {"numel", either, "input", call_numel},
  }, {
      {"aten.clamp", read_clamp},
      {"aten.clamp_max", read_clamp},
      {"aten.clamp_min", read_clamp},
      {"aten.alias", read_made<unchanged>},
      {"aten.clone", read_made<unchanged>},
      {"aten.contiguous", read_made<unchanged>},
      {"aten.detach", read_made<unchanged>},
      {"aten.lift_fresh_copy", read_made<unchanged>},
      {"aten.positive", read_made<unchanged>},
      {"aten.real", read_made<unchanged>},  // of a real tensor
      {"aten.resolve_conj", read_made<unchanged>},
      {"aten.resolve_neg", read_made<unchanged>},
      {"aten.dropout", read_dropout},
      {"aten.alpha_dropout", read_dropout},
      {"aten.feature_alpha_dropout", read_dropout},
      {"aten.feature_dropout", read_dropout},
      {"aten.native_dropout", read_dropout},
      {"aten._assert_async", read_nothing},
      {"aten._assert_scalar", read_check},
      {"aten._assert_tensor_metadata", read_nothing},
      {"aten.sym_constrain_range", read_nothing},
      {"aten.sym_constrain_range_for_size", read_nothing},
  }};
}
// clang-format on

std::vector<Composites> composites() {
  return {
      other_composites(),     activations(), bitwise_names(),  channel_norms(), contractions(), composed_functions(),
      elementary_functions(), histograms(),  interpolations(), losses(),        placements(),   poolings(),
      rearrangements(),       recurrences(), samplings(),      strided_views(), vector_norms(), written_functions()};
}

}  // namespace deplo::ir::torch
