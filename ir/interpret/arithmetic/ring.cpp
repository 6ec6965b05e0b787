#include "ir/interpret/arithmetic/ring.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "ir/interpret/arithmetic/each.h"
#include "ir/program.h"
#include "ir/text/constant.h"
#include "ir/types/integers.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

/// The greatest q below 2^31 for which both q and p = 2q + 1 are prime.
constexpr std::uint64_t q = 2147483543, p = 2 * q + 1;
constexpr std::uint64_t generator = 4;  // a square, so its order in Z_p is q

constexpr int q_bits = 31;
constexpr double least_alias = 0x1p64;  // numbers from here on stay themselves
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

template <std::uint64_t modulus>
constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

/// An element of the ring: its residues modulo p and q.
struct Pair {
  std::uint64_t p = 0, q = 0;
  bool operator==(const Pair&) const = default;
};

constexpr std::uint64_t reduced(std::uint64_t sum, std::uint64_t modulus) {
  return sum - (sum < modulus ? 0 : modulus);
}
constexpr Pair sum(Pair a, Pair b) { return {reduced(a.p + b.p, p), reduced(a.q + b.q, q)}; }
constexpr Pair negated(Pair a) { return {a.p == 0 ? 0 : p - a.p, a.q == 0 ? 0 : q - a.q}; }
constexpr Pair product(Pair a, Pair b) { return {a.p * b.p % p, a.q * b.q % q}; }
// By Fermat; the inverse of 0 is 0.
constexpr Pair inverse(Pair a) { return {power<p>(a.p, p - 2), power<q>(a.q, q - 2)}; }

constexpr Pair one = {1, 1};

/// A sum of up to 2^32 products, reduced only at the end. The lower and upper halves of the products are summed
/// separately.
template <std::uint64_t modulus>
class Sum {
 public:
  void add(std::uint64_t product) {
    low_ += product & 0xffffffff;
    high_ += product >> 32;
  }
  std::uint64_t plus(std::uint64_t x) const {
    constexpr std::uint64_t half = (std::uint64_t{1} << 32) % modulus;
    return (high_ % modulus * half % modulus + low_ % modulus + x) % modulus;
  }

 private:
  std::uint64_t low_ = 0, high_ = 0;
};

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// True if all values encode elements, that is, their absolute values are below 2.
template <class... Doubles>
bool are_elements(Doubles... values) {
  constexpr int exponent_bit = 62;
  return ((bits_of(values) | ...) >> exponent_bit & 1) == 0;
}

// Branch-free, because `negative` is random and would be mispredicted.
constexpr std::uint64_t negated_if(std::uint64_t negative, std::uint64_t x) {
  const std::uint64_t mask = 0 - negative;
  return (x ^ mask) + ((p + 1) & mask);  // ~x + 1 + p = p - x
}

double encode(Pair x) {
  const std::uint64_t negative = x.p > q ? 1 : 0;
  return std::bit_cast<double>(negative << 63 | negated_if(negative, x.p) << q_bits | x.q);
}

Pair decode(double element) {
  const std::uint64_t bits = bits_of(element);
  return {negated_if(bits >> 63, bits << 1 >> 1 >> q_bits), bits & ((std::uint64_t{1} << q_bits) - 1)};
}

/// Returns the residue of a finite double m * 2^e, which need not be a whole number.
template <std::uint64_t modulus>
std::uint64_t residue(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  constexpr std::uint64_t half = (modulus + 1) / 2;
  const int shift = exponent - 53;
  const std::uint64_t scale = power<modulus>(shift < 0 ? half : 2, static_cast<std::uint64_t>(std::abs(shift)));
  const std::uint64_t size = mantissa % modulus * scale % modulus;
  return value < 0 && size != 0 ? modulus - size : size;
}
Pair residues(double value) { return {residue<p>(value), residue<q>(value)}; }

/// Returns the fraction of two integers below 2^20 to which the double is nearest, found by continued fractions: 1/15
/// for 0.2 / 3. Returns nullopt if there is none.
std::optional<std::pair<double, double>> simple_fraction(double value) {
  constexpr double limit = 0x1p20;
  const double size = std::fabs(value);
  double rest = size, before = 1, numerator = std::floor(size), before_below = 0, denominator = 1;
  while (numerator < limit && denominator < limit) {
    if (numerator / denominator == size) return std::pair(std::copysign(numerator, value), denominator);
    rest = 1 / (rest - std::floor(rest));
    const double digit = std::floor(rest);
    before = std::exchange(numerator, digit * numerator + before);
    before_below = std::exchange(denominator, digit * denominator + before_below);
  }
  return std::nullopt;
}

/// Returns the element that represents a constant. A constant that is a rounded product or quotient represents the
/// exact fraction.
Pair fraction_of(double value) {
  const auto fraction = simple_fraction(value);
  return fraction ? product(residues(fraction->first), inverse(residues(fraction->second))) : residues(value);
}

/// Decodes an element, or returns the residues of a number that stays itself.
Pair pair_of(double value) { return are_elements(value) ? decode(value) : residues(value); }

/// Returns the whole number that the element represents if its absolute value is below 2^30, else nullopt.
std::optional<std::int64_t> whole(Pair x) {
  constexpr std::int64_t limit = std::int64_t{1} << 30;
  const std::int64_t n = static_cast<std::int64_t>(x.p) - (x.p > q ? static_cast<std::int64_t>(p) : 0);
  const std::int64_t other = static_cast<std::int64_t>(x.q) - (x.q > q / 2 ? static_cast<std::int64_t>(q) : 0);
  return n == other && n < limit && n > -limit ? std::optional(n) : std::nullopt;
}

std::uint64_t mixed(std::uint64_t seed) { return Rng(seed).next(); }

Pair drawn(std::uint64_t seed) {
  Rng rng(seed);
  return {rng.below(p), rng.below(q)};
}

Pair hashed(Op op, Pair x, Pair y = {}) {
  return drawn(mixed(mixed(x.p << 32 ^ x.q) ^ (y.p << 32 ^ y.q)) + static_cast<std::uint64_t>(op));
}

/// Returns generator^n for n below q, from one table for each byte of n.
std::uint64_t exponential(std::uint64_t n) {
  static const auto table = [] {
    std::array<std::array<std::uint64_t, 256>, 4> powers{};
    for (std::size_t byte = 0; byte < powers.size(); ++byte)
      for (std::uint64_t i = 0; i < 256; ++i) powers[byte][i] = power<p>(generator, i << (8 * byte));
    return powers;
  }();
  const auto of = [&](int byte) { return table[static_cast<std::size_t>(byte)][n >> (8 * byte) & 255]; };
  return of(0) * of(1) % p * (of(2) * of(3) % p) % p;
}

/// Returns -1 or 1, the sign that an infinity is multiplied by. An element counts as positive unless it is known to be
/// a negative whole number.
double sign_of(double value) {
  if (!are_elements(value)) return value < 0 ? -1 : 1;
  return whole(decode(value)).value_or(1) < 0 ? -1 : 1;
}

double add(double a, double b) {
  if (are_elements(a, b)) return encode(sum(decode(a), decode(b)));
  if (!std::isfinite(a) || !std::isfinite(b)) return a + b;
  return encode(sum(pair_of(a), pair_of(b)));
}

double negative(double a) {
  if (a == 0) return 0;
  return are_elements(a) ? encode(negated(decode(a))) : -a;
}

double multiply(double a, double b) {
  if (are_elements(a, b)) return encode(product(decode(a), decode(b)));
  if (std::isnan(a) || std::isnan(b)) return nan;
  if (std::isfinite(a) && std::isfinite(b)) return encode(product(pair_of(a), pair_of(b)));
  return a == 0 || b == 0 ? nan : infinity * sign_of(a) * sign_of(b);
}

double multiply_add(double a, double b, double c) {
  if (are_elements(a, b, c)) {
    const Pair x = decode(a), y = decode(b), z = decode(c);
    return encode({(x.p * y.p + z.p) % p, (x.q * y.q + z.q) % q});  // at most (p - 1) * p, which is below 2^64
  }
  return add(multiply(a, b), c);
}

/// Returns the inverse of a nonzero element. The last divisor is cached because the elements of a row often share one.
Pair inverse_of(double b) {
  thread_local double divisor = 0;
  thread_local Pair result;
  if (bits_of(b) != bits_of(divisor)) divisor = b, result = inverse(pair_of(b));
  return result;
}

double divide(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return nan;
  if (std::isinf(b)) return std::isinf(a) ? nan : 0;
  if (std::isinf(a)) return a * sign_of(b);
  if (b == 0) return a == 0 ? nan : infinity * sign_of(a);
  return encode(product(pair_of(a), inverse_of(b)));
}

double maximum(double a, double b) { return a >= b || std::isnan(a) ? a : b; }
double minimum(double a, double b) { return a <= b || std::isnan(a) ? a : b; }

/// Applies the function to 0, infinities and NaN; all other values are hashed.
double function(Op op, double a) {
  if (a == 0 || !std::isfinite(a)) {
    const double value = ir::apply(op, std::span(&a, 1));
    return std::isfinite(value) ? encode(residues(value)) : value;
  }
  return encode(hashed(op, pair_of(a)));
}

double exponential_of(double a, std::uint64_t factor) {
  if (!std::isfinite(a)) return a < 0 ? 0 : a;
  return encode({exponential(pair_of(a).q * factor % q), 1});
}

double raised(double a, double b) {
  if (const auto n = std::isfinite(b) ? whole(pair_of(b)) : std::nullopt; n && *n >= 0 && *n <= 8) {
    double result = encode(one);
    for (std::int64_t i = 0; i < *n; ++i) result = multiply(result, a);
    return result;
  }
  if (!std::isfinite(a) || !std::isfinite(b)) return nan;
  return encode(hashed(Op::power, pair_of(a), pair_of(b)));
}

double unary(Op op, double a) {
  switch (op) {
    case Op::copy:
    case Op::round_f16:
    case Op::round_bf16:
    case Op::round_tf32:
      return a;
    case Op::negative:
      return negative(a);
    case Op::reciprocal:
      return divide(encode(one), a);
    case Op::exp2:
      return exponential_of(a, 1);
    case Op::exp: {
      static const std::uint64_t log2e = residue<q>(std::numbers::log2e);
      return exponential_of(a, log2e);
    }
    case Op::rsqrt:
      return divide(encode(one), function(Op::sqrt, a));
    case Op::relu:
      return a < 0 ? 0 : a;
    case Op::absolute:
      return maximum(a, negative(a));
    case Op::logical_not:
      return a == 0 ? 1 : 0;
    default:
      return function(op, a);
  }
}

double expanded_sigmoid(double a) { return divide(encode(one), add(encode(one), unary(Op::exp, negative(a)))); }

double binary(Op op, double a, double b) {
  switch (op) {
    case Op::subtract:
      return add(a, negative(b));
    case Op::divide:
      return divide(a, b);
    case Op::minimum:
      return minimum(a, b);
    case Op::power:
      return raised(a, b);
    default: {
      CHECK(gives_truth(op));
      const double args[] = {a, b};
      return ir::apply(op, args);
    }
  }
}

}  // namespace

Ring::Ring(const Program& meaning, Sigmoid sigmoid) : sigmoid_(sigmoid) {
  const auto note = [&](double factor) { powers_.emplace(factor * std::numbers::log2e, factor); };
  for_each(meaning.body, [&](const Stmt& stmt) {
    const auto* assign = stmt.as<Assign>();
    for (const Arg& arg : assign != nullptr ? assign->args : std::vector<Arg>())
      if (const auto* factor = std::get_if<double>(&arg); factor != nullptr && *factor != 0) note(*factor);
  });
}

double Ring::constant(double value) const {
  value = f32_constant(value);
  if (!(std::fabs(value) < least_alias)) return value;
  const auto power = powers_.find(value);
  if (power == powers_.end()) return encode(fraction_of(value));
  return encode(product(fraction_of(power->second), residues(std::numbers::log2e)));
}

void Ring::apply(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c) const {
  switch (op) {
    case Op::add:
      return each(n, out, [=](auto i) { return add(a[i], b[i]); });
    case Op::multiply:
      return each(n, out, [=](auto i) { return multiply(a[i], b[i]); });
    case Op::fma:
      return each(n, out, [=](auto i) { return multiply_add(a[i], b[i], c[i]); });
    case Op::maximum:
      return each(n, out, [=](auto i) { return maximum(a[i], b[i]); });
    case Op::select:
      return each(n, out, [=](auto i) { return a[i] != 0 ? b[i] : c[i]; });
    case Op::sigmoid:
      if (sigmoid_ == Sigmoid::expanded) return each(n, out, [=](auto i) { return expanded_sigmoid(a[i]); });
      return each(n, out, [=](auto i) { return unary(op, a[i]); });
    default:
      if (arity(op) == 1) return each(n, out, [=](auto i) { return unary(op, a[i]); });
      return each(n, out, [=](auto i) { return binary(op, a[i], b[i]); });
  }
}

double Ring::dot(double total, std::span<const double> a, std::span<const double> b) const {
  std::uint64_t all = bits_of(total);
  for (std::size_t k = 0; k < a.size(); ++k) all |= bits_of(a[k]) | bits_of(b[k]);
  if (are_elements(std::bit_cast<double>(all))) {
    Sum<p> of_p;
    Sum<q> of_q;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Pair x = decode(a[k]), y = decode(b[k]);
      of_p.add(x.p * y.p);
      of_q.add(x.q * y.q);
    }
    const Pair start = decode(total);
    return encode({of_p.plus(start.p), of_q.plus(start.q)});
  }
  for (std::size_t k = 0; k < a.size(); ++k) total = multiply_add(a[k], b[k], total);
  return total;
}

double Ring::integer(double value, DType to) const {
  if (!are_elements(value)) return to_integer(value, DType::f32, to);
  const Pair x = decode(value);
  if (const auto n = whole(x)) return static_cast<double>(*n);
  return static_cast<double>(hashed(Op::copy, x).p >> 2);
}

bool Ring::is_fraction(double constant) { return simple_fraction(constant).has_value(); }

double Ring::element(std::uint64_t seed) { return encode(drawn(seed)); }

double Ring::canonical(double value) const {
  return are_elements(value) || !std::isfinite(value) ? value : encode(residues(value));
}

}  // namespace deplo::ir
