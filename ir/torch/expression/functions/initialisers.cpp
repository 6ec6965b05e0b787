// torch.nn.init, and the methods of tensors that fill them with random numbers. They determine how parameters are
// drawn.

#include <array>
#include <cmath>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace initialising {
namespace {

/// Gives the tensor new values from here on.
Value filled(const Call& c, Fill fill) {
  const Value& tensor = c.value("tensor");
  if (!is_tensor(tensor)) c.fail("tensor", "a tensor");
  if (c.session.redraw(tensor, fill)) return tensor;
  const TensorType type = c.session.type_of(tensor);
  if (fill.draw == Fill::Draw::constant)
    c.session.put(tensor, Value{fill.a});
  else
    c.session.put(tensor, Value{c.session.make_leaf(type, fill, false)});
  return tensor;
}

Value normal(const Call& c) { return filled(c, {Fill::Draw::normal, c.number("mean"), c.number("std")}); }
Value uniform(const Call& c) { return filled(c, {Fill::Draw::uniform, c.number("a"), c.number("b")}); }
Value constant(const Call& c) { return filled(c, {Fill::Draw::constant, c.number("val"), 0}); }
Value zeros(const Call& c) { return filled(c, {Fill::Draw::constant, 0, 0}); }
Value ones(const Call& c) { return filled(c, {Fill::Draw::constant, 1, 0}); }

struct Fans {
  double in = 1, out = 1;
};
Fans fans(const Call& c) {
  const Value& tensor = c.value("tensor");
  if (!is_tensor(tensor)) c.fail("tensor", "a tensor");
  const Shape shape = c.session.type_of(tensor).shape;
  if (shape.size() < 2) c.fail("tensor", "a tensor of at least two dimensions");
  const double field = static_cast<double>(element_count(Shape(shape.begin() + 2, shape.end())));
  return {static_cast<double>(shape[1]) * field, static_cast<double>(shape[0]) * field};
}

Value spread(const Call& c, double deviation, bool is_normal) {
  const double bound = deviation * std::sqrt(3.0);
  return filled(c, is_normal ? Fill{Fill::Draw::normal, 0, deviation} : Fill{Fill::Draw::uniform, -bound, bound});
}

// Glorot initialisation (Glorot and Bengio 2010).
template <bool is_normal>
Value xavier(const Call& c) {
  const Fans f = fans(c);
  return spread(c, c.number("gain") * std::sqrt(2 / (f.in + f.out)), is_normal);
}

double gain_of(std::string_view activation, double slope) {
  if (activation == "relu") return std::sqrt(2.0);
  if (activation == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
  if (activation == "selu") return 0.75;
  return activation == "tanh" ? 5.0 / 3 : 1;
}

Value calculate_gain(const Call& c) {
  return {gain_of(c.text("nonlinearity"), c.given("param") ? c.number("param") : 0.01)};
}

// He initialisation (He et al. 2015). The gain depends on the activation.
template <bool is_normal>
Value kaiming(const Call& c) {
  const Fans f = fans(c);
  const std::string_view mode = c.text("mode"), activation = c.text("nonlinearity");
  if (mode != "fan_in" && mode != "fan_out") c.fail("mode", "'fan_in' or 'fan_out'");
  const double gain = gain_of(activation, c.number("a"));
  return spread(c, gain / std::sqrt(mode == "fan_in" ? f.in : f.out), is_normal);
}

// Draws rows of about the right length. Kernels do not depend on the rows being orthogonal.
Value orthogonal(const Call& c) { return spread(c, c.number("gain") / std::sqrt(fans(c).in), true); }

Value tensor_uniform(const Call& c) { return filled(c, {Fill::Draw::uniform, c.number("from"), c.number("to")}); }

// clang-format off
constexpr std::array rows = {
    Function{"calculate_gain", in_init, "nonlinearity, param=None", calculate_gain},
    Function{"normal_", in_init, "tensor, mean=0.0, std=1.0", normal},
    Function{"trunc_normal_", in_init, "tensor, mean=0.0, std=1.0, a=-2.0, b=2.0", normal},
    Function{"uniform_", in_init, "tensor, a=0.0, b=1.0", uniform},
    Function{"constant_", in_init, "tensor, val", constant},
    Function{"zeros_", in_init, "tensor", zeros},
    Function{"ones_", in_init, "tensor", ones},
    Function{"xavier_uniform_", in_init, "tensor, gain=1.0", xavier<false>},
    Function{"xavier_normal_", in_init, "tensor, gain=1.0", xavier<true>},
    Function{"kaiming_uniform_", in_init, "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'", kaiming<false>},
    Function{"kaiming_normal_", in_init, "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'", kaiming<true>},
    Function{"orthogonal_", in_init, "tensor, gain=1.0", orthogonal},
    Function{"normal_", as_method, "tensor, mean=0.0, std=1.0", normal},
    Function{"uniform_", as_method, "tensor, from=0.0, to=1.0", tensor_uniform},
};
// clang-format on

}  // namespace
}  // namespace initialising

std::span<const Function> initialisers() { return initialising::rows; }

}  // namespace deplo::ir::torch::python
