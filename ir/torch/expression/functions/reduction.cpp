// Functions that take many elements to one, and those that normalise by one.
#include <fmt/format.h>

#include <array>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

// The input, in the dtype that is asked for.
Id input_of(const Call& c) {
  const Id x = c.tensor("input");
  return c.has("dtype") && c.given("dtype") ? c.session.cast(x, c.dtype("dtype")) : x;
}

Value reduce(const Call& c) {
  Attributes attributes = {{"keepdim", c.flag("keepdim")}};
  if (c.given("dim")) attributes.emplace("dims", c.integers("dim"));
  return c.node({input_of(c)}, std::move(attributes));
}

// Of all elements; of two tensors; along a dimension, where the indices of the extremes would come with them.
Value extreme(const Call& c) {
  const Id x = c.tensor("input");
  if (is_tensor(c.value("dim")))
    return {Tensor{c.session.call(c.op == "amax" ? "maximum" : "minimum", {x, c.tensor("dim")})}};
  if (!c.given("dim")) return c.node({x});
  const Attributes attributes = {{"dims", Shape{c.integer("dim")}}, {"keepdim", c.flag("keepdim")}};
  return {Tensor{c.session.call(c.op, {x}, attributes), true}};
}

Value variance(const Call& c) {
  std::int64_t correction = 1;
  if (c.given("unbiased")) correction = c.flag("unbiased") ? 1 : 0;
  if (c.given("correction")) correction = c.integer("correction");
  Attributes attributes = {{"keepdim", c.flag("keepdim")}, {"correction", correction}};
  if (c.given("dim")) attributes.emplace("dims", c.integers("dim"));
  return c.node({c.tensor("input")}, std::move(attributes));
}

Value deviation(const Call& c) {
  const Value v = variance(c);
  return {Tensor{c.session.call("sqrt", {v.as<Tensor>()->id}, {}, "std")}};
}

Value softmax(const Call& c) {
  const std::int64_t dim = c.integer("dim");
  return c.node({input_of(c)}, {{"dim", dim}});
}

// How many dimensions at the end; their extents must be those that are named.
std::int64_t normalised_dims(const Call& c, Id x) {
  const Shape normalised = c.integers("normalized_shape"), &shape = c.type(x).shape;
  const bool fits = !normalised.empty() && normalised.size() <= shape.size() &&
                    std::equal(normalised.rbegin(), normalised.rend(), shape.rbegin());
  if (!fits)
    throw Error(
        fmt::format("{}: expected an input that ends in {}, found {}", c.name, print(normalised), print(shape)));
  return static_cast<std::int64_t>(normalised.size());
}

Value layer_norm(const Call& c) {
  const Id x = c.tensor("input");
  std::vector<Id> args = {x};
  const bool weight = c.given("weight"), bias = c.given("bias");
  if (weight) args.push_back(c.tensor("weight"));
  if (weight && bias) args.push_back(c.tensor("bias"));
  Value normalised = c.node(std::move(args), {{"dims", normalised_dims(c, x)}, {"eps", c.number("eps")}});
  if (weight || !bias) return normalised;
  return {Tensor{c.session.call("add", {normalised.as<Tensor>()->id, c.tensor("bias")})}};
}

Value rms_norm(const Call& c) {
  const Id x = c.tensor("input");
  std::vector<Id> args = {x};
  if (c.given("weight")) args.push_back(c.tensor("weight"));
  Attributes attributes = {{"dims", normalised_dims(c, x)}};
  if (c.given("eps")) attributes.emplace("eps", c.number("eps"));
  return c.node(std::move(args), std::move(attributes));
}

constexpr unsigned kBoth = kTorch | kMethod;
constexpr std::string_view kReduce = "input, dim=None, keepdim=False, *, dtype=None";
constexpr std::string_view kExtreme = "input, dim=None, keepdim=False";
constexpr std::string_view kVariance = "input, dim=None, unbiased=None, keepdim=False, *, correction=None";

// clang-format off
constexpr std::array kFunctions = {
    Function{"sum", kBoth, kReduce, reduce},
    Function{"mean", kBoth, kReduce, reduce},
    Function{"prod", kBoth, kReduce, reduce},
    Function{"amax", kBoth, kExtreme, reduce},
    Function{"amin", kBoth, kExtreme, reduce},
    Function{"max", kBoth, kExtreme, extreme, "amax"},
    Function{"min", kBoth, kExtreme, extreme, "amin"},
    Function{"var", kBoth, kVariance, variance},
    Function{"std", kBoth, kVariance, deviation, "var"},
    Function{"softmax", kBoth, "input, dim, dtype=None", softmax},
    Function{"softmax", kFunctional, "input, dim=None, _stacklevel=3, dtype=None", softmax},
    Function{"log_softmax", kBoth, "input, dim, dtype=None", softmax},
    Function{"log_softmax", kFunctional, "input, dim=None, _stacklevel=3, dtype=None", softmax},
    Function{"layer_norm", kTorch | kFunctional, "input, normalized_shape, weight=None, bias=None, eps=1e-05", layer_norm},
    Function{"rms_norm", kTorch | kFunctional, "input, normalized_shape, weight=None, eps=None", rms_norm},
};
// clang-format on

}  // namespace

std::span<const Function> reduction_functions() { return kFunctions; }

}  // namespace deplo::ir::torch::python
