// Cumulative sums, products, maxima and minima.
//   cummax cummin cumprod cumsum(T, dim)
#include <cmath>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

// cumsum

TensorType infer_extreme(const Inference& call) {
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  call.normalise_dim("dim", call.rank(0));
  return call.type(0);
}

TensorType infer_cumsum(const Inference& call) {
  const TensorType type = infer_extreme(call);
  return {is_float(type.dtype) ? type.dtype : DType::i64, type.shape};
}

Values evaluate_cumsum(const Operands& o) {
  return along_lines(o, [&](Values& result, std::size_t start, std::size_t end, std::size_t stride) {
    double total = 0, magnitudes = 0;
    for (std::size_t i = start; i < end; i += stride) {
      total += result[i];
      if (std::isfinite(result[i])) magnitudes += std::abs(result[i]);
      result[i] = o.sum(total, magnitudes);
    }
  });
}

template <Op op>
int decompose_scan(Emitter& e, const TensorCall& call) {
  const int x = e.convert(call.args[0], accumulation_type(call.dtype()));
  return e.convert(e.scan(op, x, call.node.integer("dim"), "scan"), call.dtype());
}

// Computed in double, which overflows much later than f32. A product with a factor 0 is 0 here, but it is not 0 in f32
// if the other factors overflow.
Values evaluate_cumprod(const Operands& o) {
  return along_lines(o, [&](Values& result, std::size_t start, std::size_t end, std::size_t stride) {
    double product = 1;
    for (std::size_t i = start; i < end; i += stride) result[i] = product *= result[i];
  });
}

// A NaN counts as an extreme, and all later results are NaN.
template <bool largest>
Values evaluate_extreme(const Operands& o) {
  return along_lines(o, [&](Values& result, std::size_t start, std::size_t end, std::size_t stride) {
    for (std::size_t i = start + stride; i < end; i += stride) {
      const double before = result[i - stride];
      const bool is_passed = std::isnan(before) || (largest ? result[i] < before : before < result[i]);
      if (is_passed) result[i] = before;
    }
  });
}

// Returns the running extremes, and for each the last index at which it occurs: PyTorch compares an element with the
// extreme so far by `>=` or `<=`.
template <bool largest>
std::vector<Id> running_extreme(const Given& g) {
  const Id given = g.tensor("input");
  const Id x = g.dtype(given) == DType::boolean ? g.to(given, DType::u8) : given;
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  const Attributes along = {{"dim", static_cast<std::int64_t>(dim)}};
  const Id extreme = g.call(largest ? "cummax" : "cummin", {x}, along);
  const Id place = g.along(g.range(0, g.shape(x)[dim]), dim, g.rank(x));
  const Id hit = g.apply("logical_or", g.apply("eq", x, extreme), g.apply("ne", x, x));
  const Id index = g.call("cummax", {g.where(hit, place, g.scalar(0, DType::i32))}, along);
  return {g.to(extreme, g.dtype(given)), g.to(index, DType::i64)};
}

Id cumulative(const Given& g) { return converted_call(g, {{"dim", g.integer("dim")}}); }

}  // namespace

// clang-format off
std::vector<Operation> order_operations() {
  return {
      {"cummax", 1, 1, dim_attribute, infer_extreme, evaluate_extreme<true>, decompose_scan<Op::maximum>,
       {{"cummax", either, "input, dim", call_with_indices<along_dimension<running_extreme<true>>>}},
       {{"aten.cummax", read_made<along_dimension<running_extreme<true>>>}}},
      {"cummin", 1, 1, dim_attribute, infer_extreme, evaluate_extreme<false>, decompose_scan<Op::minimum>,
       {{"cummin", either, "input, dim", call_with_indices<along_dimension<running_extreme<false>>>}},
       {{"aten.cummin", read_made<along_dimension<running_extreme<false>>>}}},
      {"cumprod", 1, 1, dim_attribute, infer_cumsum, evaluate_cumprod, decompose_scan<Op::multiply>,
       {{"cumprod", either, "input, dim, *, dtype=None", call_made<cumulative>}},
       {{"aten.cumprod", read_made<cumulative>}}},
      {"cumsum", 1, 1, dim_attribute, infer_cumsum, evaluate_cumsum, decompose_scan<Op::add>,
       {{"cumsum", either, "input, dim, *, dtype=None", call_made<cumulative>}},
       {{"aten.cumsum", read_made<cumulative>}}},
  };
}
// clang-format on

}  // namespace deplo::ir::torch
