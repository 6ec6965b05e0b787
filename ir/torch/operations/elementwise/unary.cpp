// Elementwise operations on one tensor.
//   neg exp log sqrt rsqrt tanh sigmoid silu relu erf sin cos abs reciprocal logical_not(T)
//   gelu(T, approximate="none" | "tanh")
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/torch/operations/family.h"

namespace deplo::ir::torch {
namespace {

// The result for integers and booleans is f32.
TensorType infer_float(const Inference& call) {
  return {is_float(call.dtype(0)) ? call.dtype(0) : DType::f32, call.shape(0)};
}

// The argument may have integers or floats, but not booleans.
TensorType infer_number(const Inference& call) {
  if (call.dtype(0) == DType::boolean) call.expected("numbers");
  return call.type(0);
}

TensorType infer_activation(const Inference& call) {
  check_float(call);
  return call.type(0);
}

TensorType infer_logical_not(const Inference& call) { return {DType::boolean, call.shape(0)}; }

template <double (*apply)(double)>
Values evaluate_each(const Operands& o) {
  Values result(o.value(0).size());
  std::ranges::transform(o.value(0), result.begin(), apply);
  return result;
}

template <Op op>
int decompose_each(Emitter& e, const TensorCall& call) {
  return e.elementwise(op, {operand(e, call, 0, call.dtype())}, "ew");
}

std::vector<Id> read_unary(pt2::Call& call) { return call.node({call.operand("self")}); }

double negative(double x) { return -x; }
double reciprocal(double x) { return 1 / x; }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double relu(double x) { return x < 0 ? 0.0 : x; }
double logical_not(double x) { return x == 0 ? 1.0 : 0.0; }
// Computed as in PyTorch: the result is 0 for x below about -88.7, because the exponential overflows in f32.
double sigmoid(double x) { return 1 / (1 + in_f32_range(std::exp(-x))); }
double silu(double x) { return x / (1 + in_f32_range(std::exp(-x))); }

// A kernel may return 0 where PyTorch returns -0.
double relu_of_zero(double x) { return relu(x) + 0.0; }
Values evaluate_relu(const Operands& o) { return o.apart ? evaluate_each<relu_of_zero>(o) : evaluate_each<relu>(o); }

// x * sigmoid(x)
int decompose_silu(Emitter& e, const TensorCall& call) {
  const int x = operand(e, call, 0, call.dtype());
  return e.elementwise(Op::multiply, {x, e.elementwise(Op::sigmoid, {x}, "sigmoid")}, "ew");
}

// gelu

constexpr AttributeSpec gelu_attributes[] = {{"approximate", Kind::text, std::string_view("none")}};

TensorType infer_gelu(const Inference& call) {
  const std::string& form = call.node().text("approximate");
  if (form != "none" && form != "tanh") call.expected("approximate 'none' or 'tanh'", "'" + form + "'");
  return infer_activation(call);
}

// x Φ(x). erfc avoids cancellation for negative x.
double gelu(double x) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); }
double gelu_tanh(double x) {
  const double inner = std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

// PyTorch's vectorised code multiplies x by 2 Φ(x) first. So infinity gives NaN, and a number above half of the
// greatest f32 gives infinity. PyTorch's code for single elements does not do this.
double gelu_in_vectors(double x) {
  constexpr double half = std::numeric_limits<float>::max() / 2;
  return std::isinf(x) ? std::nan("") : x > half ? std::numeric_limits<double>::infinity() : gelu(x);
}

Values evaluate_gelu(const Operands& o) {
  if (o.apart && o.node.text("approximate") == "none") return evaluate_each<gelu_in_vectors>(o);
  return o.node.text("approximate") == "tanh" ? evaluate_each<gelu_tanh>(o) : evaluate_each<gelu>(o);
}

// (1 + erf(x / sqrt 2)), the exact form
int erf_gate(Emitter& e, int x, DType t) {
  const int scaled = e.elementwise(Op::multiply, {x, e.scalar(std::numbers::sqrt2 / 2, t, "rsqrt_2")}, "scaled");
  const int erf = e.elementwise(Op::erf, {scaled}, "erf");
  return e.elementwise(Op::add, {erf, e.scalar(1, t, "one")}, "add");
}

// (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))
int tanh_gate(Emitter& e, int x, DType t) {
  const double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  int cube = e.elementwise(Op::multiply, {x, e.scalar(0.044715, t, "coefficient")}, "cube");
  cube = e.elementwise(Op::multiply, {cube, x}, "cube");
  cube = e.elementwise(Op::multiply, {cube, x}, "cube");
  const int sum = e.elementwise(Op::add, {x, cube}, "inner");
  const int scaled = e.elementwise(Op::multiply, {sum, e.scalar(root, t, "root")}, "scaled");
  const int tanh = e.elementwise(Op::tanh, {scaled}, "tanh");
  return e.elementwise(Op::add, {tanh, e.scalar(1, t, "one")}, "add");
}

int decompose_gelu(Emitter& e, const TensorCall& call) {
  const DType t = call.dtype();
  const int x = operand(e, call, 0, t);
  const int gate = call.node.text("approximate") == "tanh" ? tanh_gate(e, x, t) : erf_gate(e, x, t);
  const int half = e.elementwise(Op::multiply, {x, e.scalar(0.5, t, "half")}, "halved");
  return e.elementwise(Op::multiply, {half, gate}, "ew");
}

// atan

// Evaluates a polynomial. The coefficient of the highest power comes first.
template <std::size_t n>
int horner(Emitter& e, int x, const std::array<double, n>& coefficients, DType t) {
  int sum = e.scalar(coefficients[0], t, "coefficient");
  for (std::size_t i = 1; i < n; ++i) {
    const int product = e.elementwise(Op::multiply, {x, sum}, "power");
    sum = e.elementwise(Op::add, {product, e.scalar(coefficients[i], t, "coefficient")}, "sum");
  }
  return sum;
}

// Cephes' atan (Moshier, netlib.org/cephes, atan.c), exact to double. For |x| above tan(3π/8) it is π/2 - atan(1 /
// |x|). For |x| above 0.66 it is π/4 + atan((|x| - 1) / (|x| + 1)). The remaining atan is z + z³ P(z²) / Q(z²). ±0 and
// NaN are returned unchanged.
int decompose_atan(Emitter& e, const TensorCall& call) {
  constexpr std::array p = {-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                            -1.228866684490136173410e2, -6.485021904942025371773e1};
  constexpr std::array q = {1.0,
                            2.485846490142306297962e1,
                            1.650270098316988542046e2,
                            4.328810604912902668951e2,
                            4.853903996359136964868e2,
                            1.945506571482613964425e2};
  const DType t = call.dtype();
  const auto number = [&](double value) { return e.scalar(value, t, "number"); };
  const auto make = [&](Op op, std::vector<int> args) { return e.elementwise(op, std::move(args), "ew"); };
  const auto choose = [&](int condition, int a, int b) { return make(Op::select, {condition, a, b}); };
  const int x = operand(e, call, 0, t), size = make(Op::absolute, {x});
  const int large = make(Op::less, {number(std::numbers::sqrt2 + 1), size}),
            middle = make(Op::less, {number(0.66), size});
  const int above = make(Op::divide, {make(Op::subtract, {size, number(1)}), make(Op::add, {size, number(1)})});
  const int inverse = make(Op::negative, {make(Op::reciprocal, {size})});
  const int z = choose(large, inverse, choose(middle, above, size));
  const int angle =
      choose(large, number(std::numbers::pi / 2), choose(middle, number(std::numbers::pi / 4), number(0)));
  const int square = make(Op::multiply, {z, z});
  const int ratio = make(Op::divide, {horner(e, square, p, t), horner(e, square, q, t)});
  const int rest = make(Op::add, {make(Op::multiply, {make(Op::multiply, {ratio, square}), z}), z});
  const int positive = make(Op::add, {angle, rest});
  const int others = choose(make(Op::less, {x, number(0)}), make(Op::negative, {positive}), x);
  return choose(make(Op::less, {number(0), x}), positive, others);
}

}  // namespace

// clang-format off
std::vector<Operation> unary_operations() {
  return {
      {"abs", 1, 1, {}, infer_number, evaluate_each<std::fabs>, decompose_each<Op::absolute>,
       {{"abs", either, "input", call_plain}, {"absolute", either, "input", call_plain}},
       {{"aten.abs", read_unary}}},
      {"atan", 1, 1, {}, infer_float, evaluate_each<std::atan>, decompose_atan,
       {{"atan", either, "input", call_plain}, {"arctan", either, "input", call_plain}},
       {{"aten.atan", read_unary}}},
      {"cos", 1, 1, {}, infer_float, evaluate_each<std::cos>, decompose_each<Op::cos>,
       {{"cos", either, "input", call_plain}},
       {{"aten.cos", read_unary}}},
      {"erf", 1, 1, {}, infer_float, evaluate_each<std::erf>, decompose_each<Op::erf>,
       {{"erf", either, "input", call_plain}},
       {{"aten.erf", read_unary}}},
      {"exp", 1, 1, {}, infer_float, evaluate_each<std::exp>, decompose_each<Op::exp>,
       {{"exp", either, "input", call_plain}},
       {{"aten.exp", read_unary}}},
      {"gelu", 1, 1, gelu_attributes, infer_gelu, evaluate_gelu, decompose_gelu,
       {{"gelu", in_functional, "input, approximate='none'", call_plain, "GELU"}},
       {{"aten.gelu", read_plain}}},
      {"log", 1, 1, {}, infer_float, evaluate_each<std::log>, decompose_each<Op::log>,
       {{"log", either, "input", call_plain}},
       {{"aten.log", read_unary}}},
      {"logical_not", 1, 1, {}, infer_logical_not, evaluate_each<logical_not>, decompose_each<Op::logical_not>,
       {{"logical_not", either, "input", call_plain}},
       {{"aten.logical_not", read_unary}}},
      {"neg", 1, 1, {}, infer_number, evaluate_each<negative>, decompose_each<Op::negative>,
       {{"neg", either, "input", call_plain}, {"negative", either, "input", call_plain},
        {"-", as_prefix, "input", call_plain}},
       {{"aten.neg", read_unary}}},
      {"reciprocal", 1, 1, {}, infer_float, evaluate_each<reciprocal>, decompose_each<Op::reciprocal>,
       {{"reciprocal", either, "input", call_plain}},
       {{"aten.reciprocal", read_unary}}},
      {"relu", 1, 1, {}, infer_number, evaluate_relu, decompose_each<Op::relu>,
       {{"relu", either, "input", call_plain}, {"relu", in_functional, "input, inplace=False", call_plain, "ReLU"}},
       {{"aten.relu", read_unary}}},
      {"rsqrt", 1, 1, {}, infer_float, evaluate_each<rsqrt>, decompose_each<Op::rsqrt>,
       {{"rsqrt", either, "input", call_plain}},
       {{"aten.rsqrt", read_unary}}},
      {"sigmoid", 1, 1, {}, infer_float, evaluate_each<sigmoid>, decompose_each<Op::sigmoid>,
       {{"sigmoid", either | in_functional, "input", call_plain, "Sigmoid"}},
       {{"aten.sigmoid", read_unary}}},
      {"silu", 1, 1, {}, infer_activation, evaluate_each<silu>, decompose_silu,
       {{"silu", in_functional, "input, inplace=False", call_plain, "SiLU"}},
       {{"aten.silu", read_unary}}},
      {"sin", 1, 1, {}, infer_float, evaluate_each<std::sin>, decompose_each<Op::sin>,
       {{"sin", either, "input", call_plain}},
       {{"aten.sin", read_unary}}},
      {"sqrt", 1, 1, {}, infer_float, evaluate_each<std::sqrt>, decompose_each<Op::sqrt>,
       {{"sqrt", either, "input", call_plain}},
       {{"aten.sqrt", read_unary}}},
      {"tanh", 1, 1, {}, infer_float, evaluate_each<std::tanh>, decompose_each<Op::tanh>,
       {{"tanh", either | in_functional, "input", call_plain, "Tanh"}},
       {{"aten.tanh", read_unary}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
