// Names without an operation of their own. Each becomes nothing at all, a number, or several operations.
#include <fmt/format.h>

#include <array>
#include <string>

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
python::Value call_contiguous(const python::Call& c) { return {c.session.contiguous(c.tensor("input"))}; }

// Dropout in evaluation mode, which returns its input.
std::vector<Id> read_dropout(pt2::Call& call) {
  const Id x = call.tensor(call.has("input") ? "input" : "self");
  if (call.flag("train", true) && call.number("p", 0.5) != 0) call.fail("train", "False (a model in eval mode)");
  call.ignore({"p"});
  return {x};
}

// Classification losses: log(sum(exp(x))) - x[target]

struct Loss {
  Id x, target;
  bool normalised = false;  // x holds logarithms of probabilities
  std::int64_t ignored = -100;
  std::string reduction = "mean";
  std::optional<Id> weight = {};  // one weight per class
  double smoothing = 0;
};

/// Returns, for each row, minus the sum over the classes of the logarithms, each multiplied by the weight of its class.
Id smooth_losses(const Caller& c, const Loss& loss, Id logarithms, std::int64_t dim) {
  Id parts = logarithms;
  if (loss.weight) {
    Shape along(c.shape(logarithms).size(), 1);
    along[static_cast<std::size_t>(dim)] = element_count(c.shape(*loss.weight));
    parts = c.call("mul", {parts, c.call("reshape", {*loss.weight}, {{"shape", along}})});
  }
  return c.call("neg", {c.call("sum", {parts}, {{"dims", Shape{dim}}})});
}

Id reduced_loss(const Caller& c, const Loss& loss, Id losses, Id count) {
  if (loss.reduction == "none") return losses;
  const Id sum = c.call("sum", {losses});
  return loss.reduction == "sum" ? sum : c.call("div", {sum, count});
}

/// The loss for a target that holds a probability for each class.
Id probability_loss(const Caller& c, const Loss& loss, std::int64_t dim) {
  const Id logarithms = c.call("log_softmax", {loss.x}, {{"dim", dim}});
  const Shape shape = c.shape(loss.x);
  const auto classes = static_cast<double>(shape[static_cast<std::size_t>(dim)]);
  Id target = loss.target;
  if (loss.smoothing != 0) {
    target = c.call("mul", {target, c.scalar(1 - loss.smoothing)});
    target = c.call("add", {target, c.scalar(loss.smoothing / classes)});
  }
  const Id losses = smooth_losses(c, loss, c.call("mul", {logarithms, target}), dim);
  return reduced_loss(c, loss, losses, c.scalar(static_cast<double>(element_count(shape)) / classes));
}

Id class_loss(const Caller& c, const Loss& loss) {
  const TensorType x = c.type(loss.x), target = c.type(loss.target);
  if (!is_float(x.dtype) || x.shape.empty()) throw Error(fmt::format("expected logits of floats, found {}", print(x)));
  const std::int64_t dim = x.shape.size() == 1 ? 0 : 1;
  Shape rows = x.shape, picked = x.shape;
  rows.erase(rows.begin() + dim);
  picked[static_cast<std::size_t>(dim)] = 1;
  if (is_float(target.dtype) && target.shape == x.shape && !loss.normalised) return probability_loss(c, loss, dim);
  if (!is_index_type(target.dtype) || target.shape != rows)
    throw Error(fmt::format("expected a class (int64) for each row {}, found {}", print(rows), print(target)));
  const Id ignored = c.whole(loss.ignored);
  const Id used = c.call("ne", {loss.target, ignored});
  const Id index = c.call("where", {used, loss.target, c.scalar(0, DType::i32)});
  const Id logarithms = loss.normalised ? loss.x : c.call("log_softmax", {loss.x}, {{"dim", dim}});
  const Id taken = pick(c, logarithms, c.call("reshape", {index}, {{"shape", picked}}), dim);
  Id losses = c.call("neg", {c.call("reshape", {taken}, {{"shape", rows}})}), count = c.call("sum", {used});
  if (loss.weight) {
    const Id weights = c.call("index_select", {*loss.weight, index}, {{"dim", std::int64_t{0}}});
    losses = c.call("mul", {losses, weights});
    count = c.call("sum", {c.call("where", {used, weights, c.scalar(0)})});
  }
  if (loss.smoothing != 0) {
    const double part = loss.smoothing / static_cast<double>(x.shape[static_cast<std::size_t>(dim)]);
    const Id smooth = c.call("mul", {smooth_losses(c, loss, logarithms, dim), c.scalar(part)});
    losses = c.call("add", {c.call("mul", {losses, c.scalar(1 - loss.smoothing)}), smooth});
  }
  return reduced_loss(c, loss, c.call("where", {used, losses, c.scalar(0)}), count);
}

python::Value call_class_loss(const python::Call& c) {
  for (const std::string_view argument : {"size_average", "reduce"})
    if (c.given(argument)) c.fail(argument, "None (no other value is supported)");
  const std::string_view reduction = c.text("reduction");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") c.fail("reduction", "'none', 'mean' or 'sum'");
  const bool normalised = c.name == "nll_loss";
  Loss loss = {c.tensor("input"), c.tensor("target"), normalised, c.integer("ignore_index"), std::string(reduction)};
  if (c.given("weight")) loss.weight = c.tensor("weight");
  if (c.has("label_smoothing")) loss.smoothing = c.number("label_smoothing");
  return {python::Tensor{class_loss(caller_of(c), loss)}};
}

// The second result of nll_loss_forward, the total weight, is not supported.
std::vector<Id> read_class_loss(pt2::Call& call, bool normalised) {
  constexpr std::array reductions = {"none", "mean", "sum"};
  const std::int64_t reduction = call.integer("reduction", 1);
  if (reduction < 0 || reduction > 2) call.fail("reduction", "0, 1 or 2");
  Loss loss = {call.tensor("self"), call.tensor("target"), normalised, call.integer("ignore_index", -100),
               reductions[static_cast<std::size_t>(reduction)]};
  if (call.has("weight")) loss.weight = call.tensor("weight");
  loss.smoothing = call.number("label_smoothing", 0);
  return {class_loss(caller_of(call), loss)};
}

std::vector<Id> read_cross_entropy(pt2::Call& call) { return read_class_loss(call, false); }
std::vector<Id> read_nll_loss(pt2::Call& call) { return read_class_loss(call, true); }

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
      {"cross_entropy", in_functional,
       "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
       "label_smoothing=0.0",
       call_class_loss},
      {"nll_loss", in_functional,
       "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
       call_class_loss},
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
      {"aten.cross_entropy_loss", read_cross_entropy},
      {"aten.nll_loss", read_nll_loss},
      {"aten.nll_loss2d", read_nll_loss},
      {"aten.nll_loss2d_forward", read_nll_loss},
      {"aten.nll_loss_forward", read_nll_loss},
      {"aten.nll_loss_nd", read_nll_loss},
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
