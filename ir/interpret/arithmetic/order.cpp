#include "ir/interpret/arithmetic/order.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/rng.h"
#include "ir/interpret/arithmetic/each.h"
#include "ir/text/constant.h"
#include "ir/types/integers.h"

namespace deplo::ir {
namespace {

using Word = std::uint64_t;

constexpr Word sign_of_word = Word{1} << 63;
constexpr Word kind_mask = 3;  // the last bits encode the type to which a value was rounded
enum class Rounded : std::uint8_t { no, f16, bf16, tf32 };

Word word(double value) { return std::bit_cast<Word>(value); }
Word mixed(Word seed) { return Rng(seed).next(); }

/// Returns a positive hash: nonzero and below 2.
double hash(Word seed, Rounded kind = Rounded::no) {
  const Word size = (mixed(seed) >> 2 & ~kind_mask) | Word{1} << 40 | static_cast<Word>(kind);
  return std::bit_cast<double>(size);
}

/// Returns the hash of an operation whose result depends on the order of its operands.
double node(Word name, double a, double b = 0, double c = 0) {
  return hash(mixed(mixed(mixed(name) ^ word(a)) + word(b)) ^ mixed(word(c) + 1));
}
Word name_of(Op op) { return 1000 + static_cast<Word>(op); }
constexpr Word name_of_dot = 1, name_of_rounding = 2, name_of_constant = 3, name_of_input = 4;

bool is_special(double value) { return !std::isfinite(value); }

// Hashes the absolute values, and applies the sign of the product.
double product(double a, double b) {
  if (is_special(a) || is_special(b)) return a * b;
  static const double one = Order().constant(1);
  if (std::fabs(a) == one) return std::copysign(1, a) * b;
  if (std::fabs(b) == one) return std::copysign(1, b) * a;
  if (a == 0 && b == 0) return 0;
  const double x = std::fabs(a), y = std::fabs(b), size = node(name_of(Op::multiply), std::min(x, y), std::max(x, y));
  return std::signbit(a) != std::signbit(b) ? -size : size;
}

/// Since -x - y is -(x + y), the operand with the greater absolute value is made positive.
double sum(double a, double b) {
  if (is_special(a) || is_special(b)) return a + b;
  if (a == 0) return b;
  if (b == 0) return a;
  if (a == -b) return 0;
  if (std::fabs(a) < std::fabs(b) || (std::fabs(a) == std::fabs(b) && a < b)) std::swap(a, b);
  return a < 0 ? -node(name_of(Op::add), -a, -b) : node(name_of(Op::add), a, b);
}

/// Returns a * b + c, rounded once.
double fused(double a, double b, double c) {
  if (is_special(a) || is_special(b) || is_special(c)) return a * b + c;
  static const double one = Order().constant(1);
  if (c == 0 || std::fabs(a) == one || std::fabs(b) == one || (a == 0 && b == 0)) return sum(product(a, b), c);
  const bool negative = std::signbit(a) != std::signbit(b);
  const double x = std::fabs(a), y = std::fabs(b), rest = negative ? -c : c;
  const double size = node(name_of(Op::fma), std::min(x, y), std::max(x, y), rest);
  return negative ? -size : size;
}

double function(Op op, double a, double b = 0) {
  if (is_special(a) || is_special(b)) {
    const double args[] = {a, b};
    const double value = ir::apply(op, std::span(args, static_cast<std::size_t>(arity(op))));
    return is_special(value) ? value : Order().constant(value);
  }
  return node(name_of(op), a, b);
}

double rounded_to(Rounded kind, double value) {
  if (value == 0 || is_special(value)) return value;
  const auto now = static_cast<Rounded>(word(value) & kind_mask);
  if (now == kind || (kind == Rounded::tf32 && now != Rounded::no)) return value;  // a tf32 can hold every f16 and bf16
  const double size = hash(mixed(word(std::fabs(value)) + name_of_rounding) + static_cast<Word>(kind), kind);
  return std::signbit(value) ? -size : size;
}

double unary(Op op, double a) {
  switch (op) {
    case Op::copy:
      return a;
    case Op::negative:
      return a == 0 ? 0 : -a;
    case Op::absolute:
      return std::fabs(a);
    case Op::relu:
      return a < 0 ? 0 : a;
    case Op::logical_not:
      return a == 0 ? 1 : 0;
    case Op::round_f16:
      return rounded_to(Rounded::f16, a);
    case Op::round_bf16:
      return rounded_to(Rounded::bf16, a);
    case Op::round_tf32:
      return rounded_to(Rounded::tf32, a);
    default:
      return function(op, a);
  }
}

double binary(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return sum(a, b);
    case Op::subtract:
      return sum(a, b == 0 ? 0 : -b);
    case Op::multiply:
      return product(a, b);
    case Op::maximum:
      return a >= b || std::isnan(a) ? a : b;
    case Op::minimum:
      return a <= b || std::isnan(a) ? a : b;
    default: {
      if (!gives_truth(op)) return function(op, a, b);
      const double args[] = {a, b};
      return ir::apply(op, args);
    }
  }
}

}  // namespace

double Order::constant(double value) const {
  const auto number = static_cast<float>(f32_constant(value));
  if (number == 0 || !(std::fabs(number) <= std::numeric_limits<float>::max())) return number;
  if (std::fabs(number) >= 0x1p64F) return number;  // these stay below or above all hashes
  const double size = node(name_of_constant, std::fabs(number));
  return number < 0 ? -size : size;
}

void Order::apply(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const {
  if (op == Op::fma) return each(n, out, [=](auto i) { return fused(a[i], b[i], c[i]); });
  if (op == Op::select) return each(n, out, [=](auto i) { return a[i] != 0 ? b[i] : c[i]; });
  if (arity(op) == 1) return each(n, out, [=](auto i) { return unary(op, a[i]); });
  each(n, out, [=](auto i) { return binary(op, a[i], b[i]); });
}

double Order::dot(double total, std::span<const double> a, std::span<const double> b) const {
  double terms = static_cast<double>(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) terms = node(name_of_dot, terms, product(a[k], b[k]));
  return node(name_of_dot, terms, total);
}

double Order::stored(double value, DType dtype) const {
  return rounded_to(dtype == DType::f16 ? Rounded::f16 : Rounded::bf16, value);
}

double Order::integer(double value, DType to) const {
  if (value == 0 || is_special(value)) return to_integer(value, DType::f32, to);
  return static_cast<double>(mixed(word(value)) >> 34);
}

double Order::element(std::uint64_t seed) {
  const double size = node(name_of_input, std::bit_cast<double>(seed));
  return (seed & 1) != 0 ? -size : size;
}

}  // namespace deplo::ir
