#include <cmath>

#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/interpret/arithmetic/each.h"
#include "ir/text/constant.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir {
namespace {

class Reals final : public Arithmetic {
 public:
  double constant(double value) const override { return f32_constant(value); }

  void apply(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const override {
    switch (op) {  // the operations of inner loops; all other operations cost more than a call anyway
      case Op::copy:
        return each(n, out, [=](auto i) { return a[i]; });
      case Op::add:
        return each(n, out, [=](auto i) { return in_f32_range(a[i] + b[i]); });
      case Op::subtract:
        return each(n, out, [=](auto i) { return in_f32_range(a[i] - b[i]); });
      case Op::multiply:
        return each(n, out, [=](auto i) { return in_f32_range(a[i] * b[i]); });
      case Op::divide:
        return each(n, out, [=](auto i) { return in_f32_range(a[i] / b[i]); });
      case Op::maximum:
        return each(n, out, [=](auto i) { return a[i] >= b[i] || std::isnan(a[i]) ? a[i] : b[i]; });
      case Op::fma:
        return each(n, out, [=](auto i) { return in_f32_range(a[i] * b[i] + c[i]); });
      default:
        break;
    }
    const auto count = static_cast<std::size_t>(arity(op));
    each(n, out, [=](auto i) {
      const double args[3] = {a[i], count > 1 ? b[i] : 0, count > 2 ? c[i] : 0};
      return ir::apply(op, std::span(args, count));
    });
  }

  double dot(double sum, std::span<const double> a, std::span<const double> b) const override {
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
  }
  double stored(double value, DType dtype) const override { return rounded(value, dtype); }
  double integer(double value, DType to) const override { return to_integer(value, DType::f32, to); }
  // A number that was stored is equal to itself computed again: x == max(x) in another kernel than the maximum.
  bool equal(double a, double b) const override { return static_cast<float>(a) == static_cast<float>(b); }
  bool is_tf32(double value) const override { return !std::isfinite(value) || value == rounded_tf32(value); }
};

}  // namespace

const Arithmetic& reals() {
  static const Reals all;
  return all;
}

}  // namespace deplo::ir
