#include "measure/ptx/floats.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/types/float16.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint32_t infinity = 0x7f800000, sign = 0x80000000, canonical_nan = 0x7fffffff;
constexpr std::uint16_t half_sign = 0x8000, half_nan = 0x7fff;

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// The patterns in use are NaNs with a lower half other than 0 and without the sign bit. The canonical NaN is excluded.
constexpr std::uint32_t patterns_in_a_block = 0xffff, blocks = 0x80;
constexpr std::uint32_t max_patterns = patterns_in_a_block * blocks - 1;
constexpr std::uint32_t pattern_of(std::uint32_t number) {
  return infinity | number / patterns_in_a_block << 16 | (number % patterns_in_a_block + 1);
}
constexpr std::uint32_t number_of(std::uint32_t pattern) {
  return (pattern >> 16 & (blocks - 1)) * patterns_in_a_block + (pattern & 0xffff) - 1;
}
static_assert(number_of(pattern_of(0)) == 0 && number_of(pattern_of(0xffff)) == 0xffff);
static_assert(pattern_of(max_patterns) == canonical_nan);

/// Returns a fraction of small integers that rounds to this f32, or the value itself if there is none. Compilers fold
/// 1.0f / 3.0f to an f32.
double fraction_near(double value) {
  constexpr double max_denominator = 1024;
  for (double denominator = 1; denominator < max_denominator; ++denominator) {
    const double numerator = std::nearbyint(value * denominator);
    if (std::fabs(numerator) >= max_denominator) break;
    if (static_cast<double>(static_cast<float>(numerator / denominator)) == value) return numerator / denominator;
  }
  return value;
}

bool is_known(double value) { return value == 0 || !std::isfinite(value); }

}  // namespace

Floats::Floats(const ir::Arithmetic& arithmetic, std::span<const double> constants) : arithmetic_(arithmetic) {
  for (const double constant : constants) {
    const auto value = static_cast<double>(static_cast<float>(constant));
    const double element = arithmetic.constant(constant);
    if (is_known(value)) continue;
    const auto [found, is_new] = numbers_.try_emplace(bits_of(value), element);
    const auto [opposite, is_opposite_new] = numbers_.try_emplace(bits_of(-value), negative(element));
    if (bits_of(found->second) != bits_of(element) || bits_of(opposite->second) != bits_of(negative(element)))
      throw Unproved(fmt::format("the constant {} and another one of the kernel are the same f32", constant));
  }
}

void Floats::reserve(const Operand& o) {
  if (o.kind == Operand::Kind::number) {
    std::uint64_t bits = o.bits;
    if (o.float_bits == 64) bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits)));
    for (int part = 0; part < 4; ++part) {
      const auto word = static_cast<std::uint16_t>(bits >> (16 * part));
      f16_.reserve(word);
      bf16_.reserve(word);
    }
  }
  for (const Operand& part : o.parts) reserve(part);
}

void Floats::reserve(const Function& function) {
  for (const Statement& statement : function.statements)
    for (const Operand& o : statement.operands) reserve(o);
}

double Floats::negative(double element) const {
  double result = 0;
  arithmetic_.apply(ir::Op::negative, 1, &result, &element, nullptr, nullptr);
  return result;
}

double Floats::number(double value) {
  if (is_known(value)) return value == 0 ? 0 : value;
  const auto [found, is_new] = numbers_.try_emplace(bits_of(value), 0);
  if (is_new) found->second = arithmetic_.constant(fraction_near(value));
  return found->second;
}

double Floats::decode(std::uint32_t bits) {
  const std::uint32_t size = bits & ~sign;
  if ((size & 0xffff) == 0) return bf16_.decode(*this, static_cast<std::uint16_t>(bits >> 16));
  if (size < infinity) return number(std::bit_cast<float>(bits));
  const std::uint32_t n = number_of(size);
  if (size == canonical_nan || n >= elements_.size()) return std::numeric_limits<double>::quiet_NaN();
  return elements_[n][(bits & sign) != 0 ? 1 : 0];
}

// Looks the element up in a hash table with open addressing. The number of slots is a power of two.
std::uint32_t Floats::encode(double element) {
  if (element == 0) return 0;
  if (std::isnan(element)) return canonical_nan;
  if (std::isinf(element)) return element > 0 ? infinity : infinity | sign;
  if (2 * (used_ + 2) > slots_.size()) grow();
  const std::size_t at = find(element);
  if (slots_[at] == 0) {
    if (elements_.size() == max_patterns)
      throw Unproved(
          fmt::format("it computes more than {} different values of f32; choose smaller extents", max_patterns));
    const double opposite = negative(element);
    const bool is_negative = std::signbit(element) && !std::signbit(opposite);
    const auto number = static_cast<std::uint32_t>(elements_.size());
    elements_.push_back(is_negative ? std::array{opposite, element} : std::array{element, opposite});
    insert(number, 0);
    insert(number, 1);
  }
  const std::uint32_t found = slots_[find(element)] - 1;
  return pattern_of(found / 2) | (found % 2 != 0 ? sign : 0);
}

std::size_t Floats::find(double element) const {
  const std::size_t mask = slots_.size() - 1;
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  std::size_t at = bits_of(element) * golden >> 20 & mask;
  while (slots_[at] != 0) {
    const std::uint32_t found = slots_[at] - 1;
    if (bits_of(elements_[found / 2][found % 2]) == bits_of(element)) break;
    at = (at + 1) & mask;
  }
  return at;
}

// An element that is in the table already keeps its first pattern.
void Floats::insert(std::uint32_t number, std::uint32_t with_sign) {
  const std::size_t at = find(elements_[number][with_sign]);
  if (slots_[at] != 0) return;
  slots_[at] = 1 + 2 * number + with_sign;
  ++used_;
}

void Floats::grow() {
  slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), 0);
  used_ = 0;
  for (std::uint32_t number = 0; number < elements_.size(); ++number) {
    insert(number, 0);
    insert(number, 1);
  }
}

Floats::Half::Half(ir::DType type) : type_(type), kinds_(std::size_t{1} << 16), elements_(std::size_t{1} << 16) {
  const std::uint16_t infinite = type == ir::DType::f16 ? 0x7c00 : 0x7f80;
  for (const std::uint16_t size : {std::uint16_t{0}, infinite, half_nan}) {
    reserve(size);
    reserve(size | half_sign);
  }
}

double Floats::Half::decode(Floats& floats, std::uint16_t bits) {
  if (kinds_[bits] == Kind::element) return elements_[bits];
  kinds_[bits] = Kind::number;
  return floats.number(static_cast<double>(ir::float16_value(bits, type_)));
}

std::uint16_t Floats::Half::encode(double element) {
  if (is_known(element)) return ir::float16_bits(static_cast<float>(element), type_);
  if (const auto found = patterns_.find(bits_of(element)); found != patterns_.end()) return found->second;
  while (next_ < kinds_.size() && kinds_[next_] != Kind::unknown) ++next_;
  if (next_ == kinds_.size())
    throw Unproved(
        fmt::format("it has more different values of {} than its patterns; choose smaller extents", name(type_)));
  const auto pattern = static_cast<std::uint16_t>(next_);
  kinds_[pattern] = Kind::element;
  elements_[pattern] = element;
  patterns_.emplace(bits_of(element), pattern);
  return pattern;
}

}  // namespace deplo::measure::ptx
