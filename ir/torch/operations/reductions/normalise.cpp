// Normalisation: softmax, layer_norm and rms_norm.
//   softmax log_softmax(T, dim)   layer_norm(T x[, T weight[, T bias]], dims (number of last dimensions), eps=1e-5)
//   rms_norm(T x[, T weight], dims, eps=2^-23 (PyTorch's default))
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

constexpr double float_epsilon = 0x1p-23;  // torch.finfo(torch.float32).eps

// softmax, log_softmax

TensorType infer_softmax(const Inference& call) {
  check_float(call);
  call.normalise_dim("dim", call.rank(0));
  return call.type(0);
}

template <bool logarithm>
Values evaluate_softmax(const Operands& o) {
  return along_lines(o, [](Values& x, std::size_t start, std::size_t end, std::size_t stride) {
    double maximum = -infinity, total = 0;
    for (std::size_t i = start; i < end; i += stride) maximum = std::max(maximum, x[i]);
    for (std::size_t i = start; i < end; i += stride) total += std::exp(x[i] - maximum);
    for (std::size_t i = start; i < end; i += stride)
      x[i] = logarithm ? x[i] - maximum - std::log(total) : std::exp(x[i] - maximum) / total;
  });
}

Dims over(const Emitter& e, int x, std::int64_t dim) { return e.rank(x) == 0 ? Dims{} : Dims{dim}; }

int less_maximum(Emitter& e, int x, const Dims& dims) {
  return with(e, Op::subtract, x, e.reduce(Op::maximum, x, dims, "max"), "shifted");
}

int decompose_softmax(Emitter& e, const TensorCall& call) {
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  return e.convert(softmax_over(e, x, call.node.integer("dim")), call.dtype());
}

// x - max - log(sum(exp(x - max)))
int decompose_log_softmax(Emitter& e, const TensorCall& call) {
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  const Dims dims = over(e, x, call.node.integer("dim"));
  const int shifted = less_maximum(e, x, dims);
  const int sum = e.reduce(Op::add, e.elementwise(Op::exp, {shifted}, "exp"), dims, "sum");
  return e.convert(with(e, Op::subtract, shifted, e.elementwise(Op::log, {sum}, "log"), "ew"), call.dtype());
}

Id softmax(const Given& g) {
  if (g.flag("half_to_float", false)) g.fail("half_to_float", "False");
  const std::size_t rank = g.rank(g.tensor("input"));
  const std::int64_t usual = rank == 0 || rank == 1 || rank == 3 ? 0 : 1;  // PyTorch's default dimension
  return converted_call(g, {{"dim", g.integer("dim", usual)}});
}

// Like softmax, but a row of -inf gives 0.
Id safe_softmax(const Given& g) {
  const Id x = g.converted_input();
  const std::int64_t dim = g.integer("dim");
  const Id largest = g.call("amax", {x}, {{"dims", Shape{dim}}, {"keepdim", true}});
  const Id hidden = g.apply("eq", largest, -infinity), zero = g.scalar(0);
  return g.where(hidden, zero, g.call("softmax", {x}, {{"dim", dim}}));
}

// layer_norm, rms_norm

constexpr AttributeSpec layer_norm_attributes[] = {{"dims", Kind::integer, Required{}}, {"eps", Kind::number, 1e-5}};
constexpr AttributeSpec rms_norm_attributes[] = {{"dims", Kind::integer, Required{}},
                                                 {"eps", Kind::number, float_epsilon}};

TensorType infer_norm(const Inference& call) {
  check_float(call);
  const std::int64_t dims = call.node().integer("dims");
  if (dims < 1 || dims > call.rank(0))
    call.expected(fmt::format("dims from 1 to {}, the dimensions of the input", call.rank(0)), std::to_string(dims));
  const Shape& shape = call.shape(0);
  const TensorType normalised = {call.dtype(0), Shape(shape.end() - dims, shape.end())};
  for (std::size_t i = 1; i < call.size(); ++i)
    if (call.type(i) != normalised)
      call.expected(fmt::format("a {} {}", i == 1 ? "weight" : "bias", print(normalised)));
  return call.type(0);
}

// Returns the number of elements that are normalised together: those of the last `dims` dimensions.
std::size_t row_size(const Operands& o) {
  const Shape& shape = o.shape(0);
  return static_cast<std::size_t>(element_count(Shape(shape.end() - o.node.integer("dims"), shape.end())));
}

double weight(const Operands& o, std::size_t i) { return o.size() > 1 ? o.value(1)[i] : 1; }
double bias(const Operands& o, std::size_t i) { return o.size() > 2 ? o.value(2)[i] : 0; }

Values evaluate_layer_norm(const Operands& o) {
  const std::size_t n = row_size(o);
  const Values& x = o.value(0);
  Values result(x.size());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = x[row], variance = 0;  // exact for a constant row
    for (std::size_t i = 0; i < n; ++i) mean += (x[row + i] - x[row]) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(n);
    // If the squares overflow, PyTorch's deviation is infinite, or NaN because PyTorch merges the deviations of parts
    // of a row.
    if (std::isinf(in_f32_range(variance * static_cast<double>(n))) && o.apart) variance = std::nan("");
    const double deviation = std::sqrt(in_f32_range(variance) + o.node.number("eps"));
    for (std::size_t i = 0; i < n; ++i) result[row + i] = (x[row + i] - mean) / deviation * weight(o, i) + bias(o, i);
  }
  return result;
}

Values evaluate_rms_norm(const Operands& o) {
  const std::size_t n = row_size(o);
  const Values& x = o.value(0);
  Values result(x.size());
  for (std::size_t row = 0; row < x.size(); row += n) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += x[row + i] * x[row + i];
    const double mean = in_f32_range(in_f32_range(squares) / static_cast<double>(n));
    const double scale = std::sqrt(mean + o.node.number("eps"));
    for (std::size_t i = 0; i < n; ++i) result[row + i] = x[row + i] / scale * weight(o, i);
  }
  return result;
}

// 1 / sqrt(mean of squares + eps)
int inverse_root(Emitter& e, const TensorCall& call, int x, const Dims& dims) {
  const int square = e.elementwise(Op::multiply, {x, x}, "sq");
  const int mean_square = mean_over(e, square, dims);
  const int eps = e.scalar(call.node.number("eps"), e.dtype(x), "eps");
  return e.elementwise(Op::rsqrt, {e.elementwise(Op::add, {mean_square, eps}, "add_eps")}, "rsq");
}

// Returns the last `dims` dimensions of the argument.
Dims normalised_dims(const TensorCall& call) {
  Dims dims(static_cast<std::size_t>(call.node.integer("dims")));
  std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(call.shape().size() - dims.size()));
  return dims;
}

// x * weight + bias, if the call has a weight and a bias.
int affine(Emitter& e, const TensorCall& call, int x) {
  const DType t = e.dtype(x);
  if (call.args.size() > 1) x = with(e, Op::multiply, x, e.convert(call.args[1], t), "scaled");
  if (call.args.size() > 2) x = with(e, Op::add, x, e.convert(call.args[2], t), "shifted");
  return e.convert(x, call.dtype());
}

int decompose_layer_norm(Emitter& e, const TensorCall& call) {
  const Dims dims = normalised_dims(call);
  const int rest = centred(e, e.convert(call.args[0], accumulation_type(call.dtype())), dims);
  return affine(e, call, with(e, Op::multiply, rest, inverse_root(e, call, rest, dims), "norm"));
}

int decompose_rms_norm(Emitter& e, const TensorCall& call) {
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  return affine(e, call, with(e, Op::multiply, x, inverse_root(e, call, x, normalised_dims(call)), "norm"));
}

// Returns the number of normalised dimensions, which are the last ones. Throws Error unless their extents equal
// normalized_shape.
std::int64_t normalised_dims(const Given& g, Id x) {
  const Shape normalised = g.integers("normalized_shape", Shape{}), shape = g.shape(x);
  const bool fits = !normalised.empty() && normalised.size() <= shape.size() &&
                    std::equal(normalised.rbegin(), normalised.rend(), shape.rbegin());
  if (!fits)
    throw Error(
        fmt::format("{}: expected an input that ends in {}, found {}", g.name(), print(normalised), print(shape)));
  return static_cast<std::int64_t>(normalised.size());
}

// layer_norm and rms_norm. native_layer_norm and _fused_rms_norm also return the mean and 1/σ, which are not supported.
Id norm_call(const Given& g) {
  g.ignore({"cudnn_enable"});
  const Id x = g.tensor("input");
  std::vector<Id> args = {x};
  const bool weight = g.has("weight"), bias = g.has("bias");
  if (weight) args.push_back(g.tensor("weight"));
  if (weight && bias) args.push_back(g.tensor("bias"));
  Attributes attributes = {{"dims", normalised_dims(g, x)}};
  if (g.has("eps")) attributes.emplace("eps", g.number("eps", 0));
  const Id normalised = g.call(g.op(), std::move(args), std::move(attributes));
  return weight || !bias ? normalised : g.apply("add", normalised, g.tensor("bias"));
}

constexpr std::string_view along_dim = "input, dim, dtype=None",
                           along_any_dim = "input, dim=None, _stacklevel=3, dtype=None";

}  // namespace

int softmax_over(Emitter& e, int x, std::int64_t dim) {
  const Dims dims = over(e, x, dim);
  const int exp = e.elementwise(Op::exp, {less_maximum(e, x, dims)}, "exp");
  return with(e, Op::divide, exp, e.reduce(Op::add, exp, dims, "sum"), "softmax");
}

// clang-format off
std::vector<Operation> normalisation_operations() {
  return {
      {"layer_norm", 1, 3, layer_norm_attributes, infer_norm, evaluate_layer_norm, decompose_layer_norm,
       {{"layer_norm", in_torch | in_functional, "input, normalized_shape, weight=None, bias=None, eps=1e-05",
         call_made<norm_call>}},
       {{"aten.layer_norm", read_made<norm_call>}, {"aten.native_layer_norm", read_made<norm_call>}}},
      {"log_softmax", 1, 1, dim_attribute, infer_softmax, evaluate_softmax<true>, decompose_log_softmax,
       {{"log_softmax", either, along_dim, call_made<softmax>},
        {"log_softmax", in_functional, along_any_dim, call_made<softmax>},
        {"LogSoftmax", stateless_module, "dim=None"}},
       {{"aten.log_softmax", read_made<softmax>}, {"aten._log_softmax", read_made<softmax>}}},
      {"rms_norm", 1, 2, rms_norm_attributes, infer_norm, evaluate_rms_norm, decompose_rms_norm,
       {{"rms_norm", in_torch | in_functional, "input, normalized_shape, weight=None, eps=None", call_made<norm_call>}},
       {{"aten.rms_norm", read_made<norm_call>}, {"aten._fused_rms_norm", read_made<norm_call>}}},
      {"softmax", 1, 1, dim_attribute, infer_softmax, evaluate_softmax<false>, decompose_softmax,
       {{"softmax", either, along_dim, call_made<softmax>},
        {"softmax", in_functional, along_any_dim, call_made<softmax>},
        {"Softmax", stateless_module, "dim=None"}},
       {{"aten.softmax", read_made<softmax>}, {"aten._softmax", read_made<softmax>},
        {"aten._safe_softmax", read_made<safe_softmax>}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
