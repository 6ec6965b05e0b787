// aten operations that reduce: sums, extrema, softmax, norms, products of matrices, attention.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "ir/torch/pt2/call.h"

namespace deplo::ir::torch::pt2 {
namespace {

using std::int64_t;

Attributes dims(Call& call) { return {{"dims", call.integers("dim")}, {"keepdim", call.flag("keepdim", false)}}; }

// The argument, in the dtype that a `dtype` asks for (the file states it as the result's).
Id converted(Call& call, std::string_view argument) {
  const Id x = call.tensor(argument);
  if (!call.has("dtype")) return x;
  call.ignore({"dtype"});
  return call.to(x, call.output_type().dtype);
}

// sum, mean, amax, …; `prod` and `max` have one dimension or all.
std::vector<Id> reduce(Call& call, std::string_view op) {
  const Id x = converted(call, "self");
  return {call.add(op, {x}, dims(call))};
}

// max.other is an elementwise maximum; max.dim gives indices too, which are not supported.
std::vector<Id> extremum(Call& call, std::string_view op) {
  if (!call.has("other")) return reduce(call, op);
  const Id self = call.tensor("self");
  return {call.add(op == "amax" ? "maximum" : "minimum", {self, call.tensor("other")})};
}

// any, all: whether the largest (smallest) truth value is not 0.
std::vector<Id> truth(Call& call, std::string_view op) {
  const Id x = call.to(call.to(call.tensor("self"), DType::boolean), DType::i32);
  return {call.to(call.add(op, {x}, dims(call)), DType::boolean)};
}

std::vector<Id> variance(Call& call, std::string_view op) {
  const Id x = call.tensor("self");
  Attributes attributes = dims(call);
  const double correction = call.has("correction") ? call.number("correction", 1) : call.flag("unbiased", true);
  if (correction != 0 && correction != 1) call.fail("correction", "0 or 1");
  attributes["correction"] = static_cast<int64_t>(correction);
  const Id result = call.add("var", {x}, std::move(attributes));
  return {op == "var" ? result : call.add("sqrt", {result})};
}

std::vector<Id> softmax(Call& call, std::string_view op) {
  if (call.flag("half_to_float", false)) call.fail("half_to_float", "False");
  const Id x = converted(call, "self");
  return {call.add(op, {x}, {{"dim", call.integer("dim")}})};
}

// As softmax, but a row of -inf gives 0.
std::vector<Id> safe_softmax(Call& call, std::string_view) {
  const Id x = converted(call, "self");
  const int64_t dim = call.integer("dim");
  const Id largest = call.add("amax", {x}, {{"dims", std::vector{dim}}, {"keepdim", true}});
  const Id hidden = call.add("eq", {largest, call.builder().scalar(-INFINITY, DType::f32)});
  const Id zero = call.builder().scalar(0, DType::f32);
  return {call.add("where", {hidden, zero, call.add("softmax", {x}, {{"dim", dim}})})};
}

// layer_norm, native_layer_norm (mean and 1/σ too, not supported), rms_norm, _fused_rms_norm
std::vector<Id> norm(Call& call, std::string_view op) {
  std::vector<Id> args = {call.tensor("input")};
  Attributes attributes = {{"dims", static_cast<int64_t>(call.integers("normalized_shape").size())}};
  if (call.has("eps")) attributes["eps"] = call.number("eps", 0);
  if (call.has("bias") && !call.has("weight")) call.fail("weight", "a tensor where there is a bias");
  if (call.has("weight")) args.push_back(call.tensor("weight"));
  if (call.has("bias")) args.push_back(call.tensor("bias"));
  call.ignore({"cudnn_enable"});
  return {call.add(op, std::move(args), std::move(attributes))};
}

std::vector<Id> linear(Call& call, std::string_view) {
  std::vector<Id> args = {call.tensor("input"), call.tensor("weight")};
  if (call.has("bias")) args.push_back(call.tensor("bias"));
  return {call.add("linear", std::move(args))};
}

// matmul, mm, bmm, mv: the second operand's name differs.
std::vector<Id> product(Call& call, std::string_view second) {
  const Id self = call.tensor("self");
  return {call.add("matmul", {self, call.tensor(second)})};
}

// beta * self + alpha * (a @ b)
std::vector<Id> product_sum(Call& call, std::string_view a) {
  const bool batched = a == "batch1";
  const Id first = call.tensor(a);
  Id result = call.add("matmul", {first, call.tensor(batched ? "batch2" : "mat2")});
  Id self = call.tensor("self");
  if (call.number("alpha", 1) != 1) result = call.add("mul", {result, call.operand("alpha")});
  if (call.number("beta", 1) != 1) self = call.add("mul", {self, call.operand("beta")});
  return {call.add("add", {result, self})};
}

// Every form of scaled_dot_product_attention; those of single devices give more outputs, which are not supported.
std::vector<Id> attention(Call& call, std::string_view mask) {
  std::vector<Id> args = {call.tensor("query"), call.tensor("key"), call.tensor("value")};
  if (call.has(mask)) args.push_back(call.tensor(mask));
  if (call.number("dropout_p", 0) != 0) call.fail("dropout_p", "0 (a model in eval mode)");
  Attributes attributes = {{"is_causal", call.flag("is_causal", false)},
                           {"enable_gqa", call.flag("enable_gqa", false)}};
  if (call.has("scale")) attributes["scale"] = call.number("scale", 1);
  call.ignore({"return_debug_mask", "compute_log_sumexp"});
  return {call.add("scaled_dot_product_attention", std::move(args), std::move(attributes))};
}

constexpr auto rows = std::to_array<Row>({
    {"aten.addmm", product_sum, "mat1"},
    {"aten.all", truth, "amin"},
    {"aten.amax", reduce, "amax"},
    {"aten.amin", reduce, "amin"},
    {"aten.any", truth, "amax"},
    {"aten.baddbmm", product_sum, "batch1"},
    {"aten.bmm", product, "mat2"},
    {"aten._fused_rms_norm", norm, "rms_norm"},
    {"aten.layer_norm", norm, "layer_norm"},
    {"aten.linear", linear, ""},
    {"aten._log_softmax", softmax, "log_softmax"},
    {"aten.log_softmax", softmax, "log_softmax"},
    {"aten.matmul", product, "other"},
    {"aten.max", extremum, "amax"},
    {"aten.mean", reduce, "mean"},
    {"aten.min", extremum, "amin"},
    {"aten.mm", product, "mat2"},
    {"aten.mv", product, "vec"},
    {"aten.native_layer_norm", norm, "layer_norm"},
    {"aten.prod", reduce, "prod"},
    {"aten.rms_norm", norm, "rms_norm"},
    {"aten._safe_softmax", safe_softmax, ""},
    {"aten.scaled_dot_product_attention", attention, "attn_mask"},
    {"aten._scaled_dot_product_efficient_attention", attention, "attn_bias"},
    {"aten._scaled_dot_product_flash_attention", attention, "attn_mask"},
    {"aten._scaled_dot_product_flash_attention_for_cpu", attention, "attn_mask"},
    {"aten._softmax", softmax, "softmax"},
    {"aten.softmax", softmax, "softmax"},
    {"aten.std", variance, "std"},
    {"aten.sum", reduce, "sum"},
    {"aten.var", variance, "var"},
});

}  // namespace

std::span<const Row> reduction_rows() { return rows; }

}  // namespace deplo::ir::torch::pt2
