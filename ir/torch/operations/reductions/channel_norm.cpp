// Normalisation of channels: batch, instance, group and local response norm.
#include <fmt/format.h>

#include "core/error.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

/// Reshapes a vector of channels to broadcast over a tensor (N, C, …).
Id of_channels(const Given& g, Id vector, std::size_t rank) { return g.along(vector, 0, rank < 2 ? 1 : rank - 1); }

void check_channels(const Given& g, Id x, Id vector) {
  if (g.rank(x) < 2) g.refuse("an input (N, C, …)", x);
  if (g.shape(vector) != Shape{g.shape(x)[1]})
    g.refuse(fmt::format("a number for each of the {} channels", g.shape(x)[1]), vector);
}

// The result has the type of the input, as in PyTorch: parameters and statistics of float32 do not widen it.
Id affine(const Given& g, Id x) {
  for (const auto& [argument, op] : {std::pair("weight", "mul"), {"bias", "add"}}) {
    if (!g.has(argument)) continue;
    const Id vector = g.tensor(argument);
    check_channels(g, x, vector);
    x = g.apply(op, x, of_channels(g, vector, g.rank(x)));
  }
  return g.to(x, g.dtype(g.tensor("input")));
}

/// (x - mean) / sqrt(var + eps), with the running statistics of the channels.
Id by_statistics(const Given& g, Id x) {
  const Id mean = g.tensor("running_mean"), var = g.tensor("running_var");
  check_channels(g, x, mean);
  check_channels(g, x, var);
  const Id centred = g.apply("sub", x, of_channels(g, mean, g.rank(x)));
  const Id root = g.apply("rsqrt", g.apply("add", of_channels(g, var, g.rank(x)), g.number("eps", 1e-5)));
  return affine(g, g.apply("mul", centred, root));
}

/// Normalises each group of channels of each image by its own statistics.
Id by_groups(const Given& g, Id x, std::int64_t groups) {
  const Shape shape = g.shape(x);
  const std::int64_t in_group = groups == 0 ? 0 : element_count(shape) / std::max<std::int64_t>(shape[0] * groups, 1);
  const Id rows = g.reshape(x, {shape[0], groups, in_group});
  const Id norm = g.call("layer_norm", {rows}, {{"dims", std::int64_t{1}}, {"eps", g.number("eps", 1e-5)}});
  return affine(g, g.reshape(norm, shape));
}

/// Normalises each channel by its statistics over the batch.
Id by_batch(const Given& g, Id x) {
  Shape order = {1, 0};
  for (std::size_t d = 2; d < g.rank(x); ++d) order.push_back(static_cast<std::int64_t>(d));
  const Id channels = g.permute(x, order);
  const Shape shape = g.shape(channels);
  const Id rows = g.reshape(channels, {shape[0], shape[0] == 0 ? 0 : element_count(shape) / shape[0]});
  const Id norm = g.call("layer_norm", {rows}, {{"dims", std::int64_t{1}}, {"eps", g.number("eps", 1e-5)}});
  return affine(g, g.permute(g.reshape(norm, shape), order));
}

Id batch_norm(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  g.ignore({"momentum", "cudnn_enabled"});
  const bool training = g.flag("training", false);
  if (g.rank(x) < 2) g.refuse("an input (N, C, …)", x);
  if (!training && (!g.has("running_mean") || !g.has("running_var")))
    throw Error(fmt::format("{}: expected running_mean and running_var in evaluation mode, found none", g.name()));
  g.ignore({"running_mean", "running_var"});
  return training ? by_batch(g, x) : by_statistics(g, x);
}

Id instance_norm(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  g.ignore({"momentum", "cudnn_enabled"});
  if (g.rank(x) < 3) g.refuse("an input (N, C, …)", x);
  if (!g.flag("use_input_stats", true)) return by_statistics(g, x);
  g.ignore({"running_mean", "running_var"});
  return by_groups(g, x, g.shape(x)[1]);
}

Id group_norm(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  g.ignore({"cudnn_enabled"});
  const std::int64_t groups = g.integer("num_groups", 1);
  if (g.rank(x) < 2 || groups < 1 || g.shape(x)[1] % groups != 0)
    g.refuse(fmt::format("an input (N, C, …) of channels divisible by {} groups", groups), x);
  return by_groups(g, x, groups);
}

// aten.native_group_norm(x, weight, bias, N, C, HxW, groups, eps). It also returns the means and the reciprocal
// standard deviations, which are not supported.
Id native_group_norm(const Given& g) {
  g.ignore({"N", "C", "HxW"});
  return by_groups(g, g.tensor("input"), g.integer("group", 1));
}

/// The running statistics of the channels after a batch: the mean, and the variance with a divisor of n - 1.
struct Statistics {
  Id mean, var;
};

/// `dims`: the dimensions that the batch's statistics are over. The mean over the remaining images is taken.
Statistics moved_statistics(const Given& g, const Shape& dims) {
  const double momentum = g.number("momentum", 0.1);
  const auto moved = [&](std::string_view argument, std::string_view op, Attributes attributes) {
    const Id old = g.tensor(argument);
    attributes.emplace("dims", dims);
    Id found = g.call(op, {g.to(g.tensor("input"), g.dtype(old))}, std::move(attributes));
    if (g.rank(found) > 1) found = g.call("mean", {found}, {{"dims", Shape{0}}});
    return g.apply("add", g.apply("mul", old, 1 - momentum), g.apply("mul", found, momentum));
  };
  return {moved("running_mean", "mean", {}), moved("running_var", "var", {{"correction", std::int64_t{1}}})};
}

/// Returns the dimensions of (N, C, …) from `first` on, without the channels.
Shape dims_of_statistics(std::size_t first, std::size_t rank) {
  Shape dims;
  for (std::size_t d = first; d < rank; ++d)
    if (d != 1) dims.push_back(static_cast<std::int64_t>(d));
  return dims;
}

// PyTorch moves the running statistics in place, if there are any and the batch's own statistics are used.
void assign_statistics(const Given& g, std::size_t first) {
  if (!g.has("running_mean") || !g.has("running_var")) return;
  const Id first_new = g.size();
  const auto [mean, var] = moved_statistics(g, dims_of_statistics(first, g.rank(g.tensor("input"))));
  g.assign("running_mean", mean, first_new);
  g.assign("running_var", var, first_new);
}

Id moving_batch_norm(const Given& g) {
  const Id result = batch_norm(g);
  if (g.flag("training", false)) assign_statistics(g, 0);
  return result;
}

Id moving_instance_norm(const Given& g) {
  const Id result = instance_norm(g);
  if (g.flag("use_input_stats", true)) assign_statistics(g, 2);
  return result;
}

// aten._native_batch_norm_legit(x, weight, bias, training, momentum, eps), also with running statistics.
Id native_batch_norm(const Given& g) {
  g.ignore({"momentum", "running_mean", "running_var"});
  if (!g.flag("training", false)) g.fail("training", "True");
  assign_statistics(g, 0);
  return by_batch(g, g.tensor("input"));
}

// The same for core ATen, which changes nothing in place. It returns the result, the batch's mean and reciprocal
// standard deviation, and the moved statistics.
std::vector<Id> functional_batch_norm(const Given& g) {
  if (!g.flag("training", false)) g.fail("training", "True");
  const Id x = g.tensor("input");
  const Id result = by_batch(g, x);
  const Shape dims = dims_of_statistics(0, g.rank(x));
  const Id var = g.call("var", {x}, {{"dims", dims}, {"correction", std::int64_t{0}}});
  const Id root = g.apply("rsqrt", g.apply("add", var, g.number("eps", 1e-5)));
  const auto [mean, moved_var] = moved_statistics(g, dims);
  return {result, g.call("mean", {x}, {{"dims", dims}}), root, mean, moved_var};
}

// x / (k + alpha * mean of x² over `size` neighbouring channels)^beta. Channels outside of the tensor count as zeros.
Id local_response_norm(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  const std::int64_t size = g.integer("size", 1);
  if (g.rank(x) < 3) g.refuse("an input (N, C, L…)", x);
  if (size < 1) g.fail("size", "at least 1");
  Shape last;
  for (std::size_t d = 0; d < g.rank(x); ++d)
    if (d != 1) last.push_back(static_cast<std::int64_t>(d));
  last.push_back(1);
  const Id padded = g.call("pad", {g.permute(g.apply("mul", x, x), last)}, {{"pad", Shape{size / 2, (size - 1) / 2}}});
  const Id windows =
      g.call("windows", {padded}, {{"kernel", Shape{size}}, {"stride", Shape{1}}, {"dilation", Shape{1}}});
  Shape back = {0, static_cast<std::int64_t>(g.rank(x)) - 1};
  for (std::size_t d = 1; d + 1 < g.rank(x); ++d) back.push_back(static_cast<std::int64_t>(d));
  const Id mean = g.permute(g.call("mean", {windows}, {{"dims", Shape{-1}}}), back);
  const Id base = g.apply("add", g.apply("mul", mean, g.number("alpha", 1e-4)), g.number("k", 1));
  return g.apply("div", x, g.apply("pow", base, g.number("beta", 0.75)));
}

constexpr std::string_view functional_batch =
    "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05";
constexpr std::string_view functional_instance =
    "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05";

}  // namespace

// clang-format off
Composites channel_norms() {
  return {
      {{"batch_norm", in_functional, functional_batch, call_made<moving_batch_norm>},
       {"group_norm", in_functional, "input, num_groups, weight=None, bias=None, eps=1e-05", call_made<group_norm>},
       {"instance_norm", in_functional, functional_instance, call_made<moving_instance_norm>},
       {"local_response_norm", in_functional, "input, size, alpha=0.0001, beta=0.75, k=1.0",
        call_made<local_response_norm>, "LocalResponseNorm"}},
      {{"aten.batch_norm", read_made<moving_batch_norm>},
       {"aten._native_batch_norm_legit_no_training", read_made<batch_norm>},
       {"aten.group_norm", read_made<group_norm>}, {"aten.native_group_norm", read_made<native_group_norm>},
       {"aten.instance_norm", read_made<moving_instance_norm>},
       {"aten._native_batch_norm_legit", read_made<native_batch_norm>},
       {"aten._native_batch_norm_legit_functional", read_made<functional_batch_norm>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
