// Activation functions, composed of several elementwise operations: elu, softplus, hardswish, …

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

Id float_input(const Given& g) {
  g.ignore({"inplace"});
  const Id x = g.tensor("input");
  g.require_float(x);
  return x;
}

Id clamp(const Given& g, Id x, double low, double high) { return g.apply("minimum", g.apply("maximum", x, low), high); }

Id clamped_to_six(const Given& g, Id x) { return clamp(g, x, 0, 6); }

Id relu6(const Given& g) { return clamped_to_six(g, g.tensor("input")); }

Id hardtanh(const Given& g) {
  const double low = g.number("min_val", -1), high = g.number("max_val", 1);
  if (low > high) g.fail("min_val", "at most max_val");
  return clamp(g, g.tensor("input"), low, high);
}

Id leaky(const Given& g, Id x, double slope) { return g.where(g.apply("gt", x, 0.0), x, g.apply("mul", x, slope)); }

Id leaky_relu(const Given& g) { return leaky(g, float_input(g), g.number("negative_slope", 0.01)); }

// In evaluation mode the slope is the mean of the two bounds.
Id rrelu(const Given& g) {
  const Id x = float_input(g);
  if (g.flag("training", false)) g.fail("training", "False (a model in eval mode)");
  g.ignore({"generator"});
  return leaky(g, x, (g.number("lower", 1.0 / 8) + g.number("upper", 1.0 / 3)) / 2);
}

// The weight has one slope per channel, or one slope for all channels.
Id prelu(const Given& g) {
  const Id x = float_input(g);
  Id slope = g.tensor("weight");
  const Shape shape = g.shape(x);
  const std::int64_t count = element_count(g.shape(slope));
  if (g.rank(slope) == 1 && count > 1) {
    if (shape.size() < 2 || shape[1] != count) g.refuse("an input with a channel for each slope", x);
    slope = g.along(slope, 0, shape.size() - 1);
  }
  return g.where(g.apply("gt", x, 0.0), x, g.apply("mul", slope, x));
}

/// scale * (x > 0 ? x : alpha * expm1(input_scale * x))
Id exponential(const Given& g, Id x, double alpha, double scale, double input_scale) {
  const Id power = exp_minus_1(g, input_scale == 1 ? x : g.apply("mul", x, input_scale));
  const Id below = alpha * scale == 1 ? power : g.apply("mul", power, alpha * scale);
  return g.where(g.apply("gt", x, 0.0), scale == 1 ? x : g.apply("mul", x, scale), below);
}

Id elu(const Given& g) {
  const Id x = float_input(g);
  return exponential(g, x, g.number("alpha", 1), g.number("scale", 1), g.number("input_scale", 1));
}

// Klambauer et al., Self-Normalizing Neural Networks, 2017.
Id selu(const Given& g) { return exponential(g, float_input(g), 1.6732632423543772848, 1.0507009873554804934, 1); }

Id celu(const Given& g) {
  const Id x = float_input(g);
  const double alpha = g.number("alpha", 1);
  if (alpha == 0) g.fail("alpha", "a number other than 0");
  return exponential(g, x, alpha, 1, 1 / alpha);
}

Id hard_sigmoid_of(const Given& g, Id x) { return g.apply("div", clamped_to_six(g, g.apply("add", x, 3.0)), 6.0); }

Id hardsigmoid(const Given& g) { return hard_sigmoid_of(g, float_input(g)); }

Id hardswish(const Given& g) {
  const Id x = float_input(g);
  return g.apply("div", g.apply("mul", x, clamped_to_six(g, g.apply("add", x, 3.0))), 6.0);
}

Id softplus(const Given& g) {
  const Id x = float_input(g);
  const double beta = g.number("beta", 1), threshold = g.number("threshold", 20);
  if (beta == 0) g.fail("beta", "a number other than 0");
  const Id scaled = beta == 1 ? x : g.apply("mul", x, beta);
  const Id sum = log_sum(g, scaled);
  return g.where(g.apply("gt", scaled, threshold), x, beta == 1 ? sum : g.apply("div", sum, beta));
}

Id mish(const Given& g) {
  const Id x = float_input(g);
  return g.apply("mul", x, g.apply("tanh", log_sum(g, x)));
}

// min(x, 0) - log(1 + e^-|x|)
Id logsigmoid(const Given& g) {
  const Id x = float_input(g);
  return g.apply("neg", log_sum(g, g.apply("neg", x)));
}

Id softsign(const Given& g) {
  const Id x = g.tensor("input");
  return g.apply("div", x, g.apply("add", g.apply("abs", x), 1.0));
}

Id tanhshrink(const Given& g) {
  const Id x = g.tensor("input");
  return g.apply("sub", x, g.apply("tanh", x));
}

double bound_of(const Given& g) {
  const double bound = g.number("lambd", 0.5);
  if (!(bound >= 0)) g.fail("lambd", "at least 0");
  return bound;
}

Id softshrink(const Given& g) {
  const Id x = float_input(g);
  const double bound = bound_of(g);
  const Id inside = g.where(g.apply("lt", x, -bound), g.apply("add", x, bound), g.apply("mul", x, 0.0));
  return g.where(g.apply("gt", x, bound), g.apply("sub", x, bound), inside);
}

Id hardshrink(const Given& g) {
  const Id x = float_input(g);
  const double bound = g.number("lambd", 0.5);
  const Id inside = g.apply("logical_and", g.apply("ge", x, -bound), g.apply("le", x, bound));
  return g.where(inside, g.scalar(0), x);
}

Id threshold(const Given& g) {
  const Id x = g.tensor("input");
  g.ignore({"inplace"});
  return g.where(g.apply("le", x, g.number("threshold", 0)), g.operand("value"), x);
}

// The first half times the sigmoid of the second half.
Id glu(const Given& g) {
  const Id x = float_input(g);
  const std::size_t dim = g.dim(g.integer("dim", -1), g.rank(x));
  const std::int64_t extent = g.shape(x)[dim];
  if (extent % 2 != 0) g.refuse("an even extent to halve", x);
  const Id gate = g.apply("sigmoid", g.slice(x, dim, extent / 2, extent));
  return g.apply("mul", g.slice(x, dim, 0, extent / 2), gate);
}

Id softmin(const Given& g) {
  Id x = float_input(g);
  const std::int64_t any = g.rank(x) == 0 || g.rank(x) == 1 || g.rank(x) == 3 ? 0 : 1;  // PyTorch's default dimension
  return g.call("softmax", {g.apply("neg", x)}, {{"dim", g.integer("dim", any)}});
}

Id softmax2d(const Given& g) {
  const Id x = float_input(g);
  if (g.rank(x) != 3 && g.rank(x) != 4) g.refuse("an input (…, channels, height, width)", x);
  return g.call("softmax", {x}, {{"dim", std::int64_t{-3}}});
}

constexpr std::string_view plain = "input", in_place = "input, inplace=False";

}  // namespace

// clang-format off
Composites activations() {
  return composites_of(
      {made<celu>("aten.celu", in_functional | in_torch, "input, alpha=1.0, inplace=False", "CELU"),
       made<elu>("aten.elu", in_functional, "input, alpha=1.0, inplace=False", "ELU"),
       made<glu>("aten.glu", in_functional, "input, dim=-1", "GLU"),
       made<hardshrink>("aten.hardshrink", in_functional | in_torch, "input, lambd=0.5", "Hardshrink"),
       made<hardsigmoid>("aten.hardsigmoid", in_functional, in_place, "Hardsigmoid"),
       made<hardswish>("aten.hardswish", in_functional, in_place, "Hardswish"),
       made<hardtanh>("aten.hardtanh", in_functional, "input, min_val=-1.0, max_val=1.0, inplace=False", "Hardtanh"),
       made<leaky_relu>("aten.leaky_relu", in_functional, "input, negative_slope=0.01, inplace=False", "LeakyReLU"),
       {{"logsigmoid", in_functional, plain, call_made<logsigmoid>, "LogSigmoid"}},
       made<mish>("aten.mish", in_functional, in_place, "Mish"),
       made<prelu>("aten.prelu", in_functional | in_torch, "input, weight"),
       made<relu6>("aten.relu6", in_functional, in_place, "ReLU6"),
       made<rrelu>("aten.rrelu", in_functional | in_torch,
         "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False"),
       {{"RReLU", stateless_module, "lower=0.125, upper=0.3333333333333333, inplace=False", nullptr, {}, "rrelu"}},
       made<selu>("aten.selu", in_functional | in_torch, in_place, "SELU"),
       {{"softmax2d", of_modules_only, plain, call_made<softmax2d>, "Softmax2d"}},
       {{"softmin", in_functional, "input, dim=None, _stacklevel=3, dtype=None", call_made<softmin>}},
       {{"Softmin", stateless_module, "dim=None", nullptr, {}, "softmin"}},
       made<softplus>("aten.softplus", in_functional, "input, beta=1.0, threshold=20.0", "Softplus"),
       made<softshrink>("aten.softshrink", in_functional, "input, lambd=0.5", "Softshrink"),
       {{"softsign", in_functional, plain, call_made<softsign>, "Softsign"}},
       {{"tanhshrink", in_functional, plain, call_made<tanhshrink>, "Tanhshrink"}},
       made<threshold>("aten.threshold", in_functional | in_torch,
         "input, threshold, value, inplace=False", "Threshold")},
      {{"aten.log_sigmoid", read_made<logsigmoid>}, {"aten.log_sigmoid_forward", read_made<logsigmoid>},
       {"aten._prelu_kernel", read_made<prelu>}});
}
// clang-format on

}  // namespace deplo::ir::torch
