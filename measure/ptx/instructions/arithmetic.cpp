// Arithmetic, logic and comparisons, lane by lane.
#include <algorithm>
#include <utility>

#include "measure/ptx/instructions/comparison.h"
#include "measure/ptx/instructions/float_functions.h"
#include "measure/ptx/instructions/lanes.h"
#include "measure/ptx/instructions/rounding.h"
#include "measure/ptx/instructions/table.h"

namespace deplo::measure::ptx {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
__extension__ using Int128 = __int128;
__extension__ using UnsignedInt128 = unsigned __int128;

/// The integer type with twice the bits of T.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, Int128, UnsignedInt128>>>;

// ---- integers: results wrap around. They are computed in unsigned 64-bit arithmetic.
template <class T>
constexpr T wrapped(std::uint64_t bits) {
  return static_cast<T>(bits);
}
template <class T>
constexpr std::uint64_t wide(T x) {
  return static_cast<std::uint64_t>(x);
}
using Add = decltype([]<class T>(T a, T b) { return wrapped<T>(wide(a) + wide(b)); });
using Subtract = decltype([]<class T>(T a, T b) { return wrapped<T>(wide(a) - wide(b)); });
using Low = decltype([]<class T>(T a, T b) { return wrapped<T>(wide(a) * wide(b)); });
using Product = decltype([]<class T>(T a, T b) { return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b); });
using High = decltype([]<class T>(T a, T b) { return static_cast<T>(Product{}(a, b) >> bits_in<T>); });
using LowSum = decltype([]<class T>(T a, T b, T c) { return wrapped<T>(wide(a) * wide(b) + wide(c)); });
using HighSum = decltype([]<class T>(T a, T b, T c) { return wrapped<T>(wide(High{}(a, b)) + wide(c)); });
using ProductSum = decltype([]<class T>(T a, T b, Wide<T> c) {
  return wrapped<Wide<T>>(wide(Product{}(a, b)) + wide(c));
});
// PTX ISA, "div": the result of a division by zero is machine-specific.
using Divide = decltype([]<class T>(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrapped<T>(0 - wide(a));
  return static_cast<T>(a / b);
});
using Remainder = decltype([]<class T>(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
  return static_cast<T>(a % b);
});
using Least = decltype([]<class T>(T a, T b) { return std::min(a, b); });
using Most = decltype([]<class T>(T a, T b) { return std::max(a, b); });
using Absolute = decltype([]<class T>(T a) { return a < 0 ? wrapped<T>(0 - wide(a)) : a; });
using Negative = decltype([]<class T>(T a) { return wrapped<T>(0 - wide(a)); });
using And = decltype([]<class T>(T a, T b) { return static_cast<T>(a & b); });
using Or = decltype([]<class T>(T a, T b) { return static_cast<T>(a | b); });
using Xor = decltype([]<class T>(T a, T b) { return static_cast<T>(a ^ b); });
using Not = decltype([]<class T>(T a) { return static_cast<T>(~a); });
using LogicalNot = decltype([]<class T>(T a) { return a == 0 ? T{1} : T{0}; });
using ShiftLeft = decltype([]<class T>(T a, std::uint32_t b) {
  return b >= bits_in<T> ? T{0} : wrapped<T>(wide(a) << b);
});
using ShiftRight = decltype([]<class T>(T a, std::uint32_t b) {
  if (b >= bits_in<T>) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> b);
});
using Population = decltype([](auto a) { return static_cast<std::uint32_t>(std::popcount(a)); });
using LeadingZeros = decltype([](auto a) { return static_cast<std::uint32_t>(std::countl_zero(a)); });
// PTX ISA, "bfind": the place of the highest bit that differs from the sign; all ones if there is none. `shift`: how
// far to shift it to the highest place.
template <bool shift>
struct FindBit {
  template <class T>
  std::uint32_t operator()(T a) const {
    const int above = std::countl_zero(static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a));
    if (above == bits_in<T>) return ~0U;
    return static_cast<std::uint32_t>(shift ? above : bits_in<T> - 1 - above);
  }
};
using Reversed = decltype([]<class T>(T a) {
  T r = 0;
  for (int i = 0; i < bits_in<T>; ++i) r = static_cast<T>(r << 1 | (a >> i & 1));
  return r;
});

template <class F, int arity>
void integer(Binder& b) {
  with_wide_integer(b.type(), [&]<class T>(Typed<T>) { bind_same<F, arity, T>(b); });
}
template <class F>
void integer_count(Binder& b) {
  b.type() == "b64" ? bind_each<F, std::uint32_t, std::uint64_t>(b) : bind_each<F, std::uint32_t, std::uint32_t>(b);
}
void find_bit(Binder& b) {
  with_wide_integer(b.type(), [&]<class T>(Typed<T>) {
    b.has("shiftamt") ? bind_each<FindBit<true>, std::uint32_t, T>(b) : bind_each<FindBit<false>, std::uint32_t, T>(b);
  });
}
// ---- integers with a carry (PTX ISA, "Extended-Precision Integer Arithmetic"). In a subtraction the carry is a
// borrow.
enum class First : std::uint8_t { sum, difference, low, high };
template <class U, First first, bool takes, bool gives>
Flow run_carrying(Warp& w, const Instruction& i, Lanes active) {
  constexpr bool multiplies = first == First::low || first == First::high;
  const PerLane<U>&a = w.lanes<U>(i.a), &b = w.lanes<U>(i.b), &c = w.lanes<U>(multiplies ? i.c : i.b);
  PerLane<U> r;
  Lanes carries = 0;
  for (std::size_t l = 0; l < warp_lanes; ++l) {
    const Wide<U> product = static_cast<Wide<U>>(a[l]) * static_cast<Wide<U>>(b[l]);
    const Wide<U> x = first == First::low    ? static_cast<U>(product)
                      : first == First::high ? static_cast<U>(product >> bits_in<U>)
                                             : a[l];
    const Wide<U> carry = takes ? w.carry >> l & 1U : 0;
    const Wide<U> result = first == First::difference ? x - c[l] - carry : x + c[l] + carry;
    r[l] = static_cast<U>(result);
    carries |= static_cast<Lanes>(result >> bits_in<U> & 1U) << l;
  }
  w.store(i.d, r, active);
  if (gives) w.carry = (w.carry & ~active) | (carries & active);
  return Flow::next;
}
template <First first, bool takes, bool gives>
void carrying(Binder& b) {
  with_wide_integer(b.type(), [&]<class T>(Typed<T>) {
    if constexpr (sizeof(T) >= 4) {
      constexpr int bits = bits_in<T>;
      if constexpr (first == First::low || first == First::high)
        b.registers(bits, {bits, bits, bits});
      else
        b.registers(bits, {bits, bits});
      b.to().run = run_carrying<Unsigned<T>, first, takes, gives>;
    }
  });
}
template <class F>
void shift(Binder& b) {
  with_wide_integer(b.type(), [&]<class T>(Typed<T>) { bind_each<F, T, T, std::uint32_t>(b); });
}
template <class Visit>
void with_narrow_integer(std::string_view type, const Visit& visit) {
  with_integer(type, [&]<class T>(Typed<T> t) {
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) visit(t);
  });
}
void multiply_wide(Binder& b) {
  with_narrow_integer(b.type(), [&]<class T>(Typed<T>) { bind_each<Product, Wide<T>, T, T>(b); });
}
void multiply_add_wide(Binder& b) {
  with_narrow_integer(b.type(), [&]<class T>(Typed<T>) { bind_each<ProductSum, Wide<T>, T, T, Wide<T>>(b); });
}

// ---- predicates
template <class F>
Flow run_predicates(Warp& w, const Instruction& i, Lanes active) {
  w.store_predicate(i.d, F{}(w.predicate(i.a), w.predicate(i.b)), active);
  return Flow::next;
}
template <class F>
void predicates(Binder& b) {
  b.registers(1, {1, 1});
  b.to().run = run_predicates<F>;
}
Flow run_not(Warp& w, const Instruction& i, Lanes active) {
  w.store_predicate(i.d, ~w.predicate(i.a), active);
  return Flow::next;
}
void not_predicate(Binder& b) {
  b.registers(1, {1});
  b.to().run = run_not;
}

// ---- bit fields
struct FieldInsert {
  template <class T>
  T operator()(T a, T b, std::uint32_t position, std::uint32_t length) const {
    constexpr std::uint32_t bits = bits_in<T>;
    position &= 0xff, length &= 0xff;  // PTX ISA, "bfi": only the lower 8 bits count
    T result = b;
    for (std::uint32_t i = 0; i < length && position + i < bits && i < bits; ++i) {
      const T bit = static_cast<T>(T{1} << (position + i));
      result = static_cast<T>((a >> i & 1) != 0 ? result | bit : result & ~bit);
    }
    return result;
  }
};
void field_insert(Binder& b) {
  with_wide_integer(b.type(),
                    [&]<class T>(Typed<T>) { bind_each<FieldInsert, T, T, T, std::uint32_t, std::uint32_t>(b); });
}
// PTX ISA, "bfe": bits beyond the field are copies of its sign bit.
template <class T>
struct FieldExtract {
  T operator()(T a, std::uint32_t position, std::uint32_t length) const {
    constexpr std::uint32_t bits = bits_in<T>;
    position &= 0xff, length &= 0xff;
    using U = Unsigned<T>;
    const std::uint32_t top = std::min(position + length - 1, bits - 1);
    const bool sign = std::is_signed_v<T> && length > 0 && (static_cast<U>(a) >> top & 1) != 0;
    U result = sign ? static_cast<U>(~U{0}) : U{0};
    for (std::uint32_t i = 0; i < std::min(length, bits); ++i) {
      const bool bit = position + i < bits ? (static_cast<U>(a) >> (position + i) & 1) != 0 : sign;
      const U one = static_cast<U>(U{1} << i);
      result = static_cast<U>(bit ? result | one : result & ~one);
    }
    return static_cast<T>(result);
  }
};
void field_extract(Binder& b) {
  with_integer(b.type(), [&]<class T>(Typed<T>) {
    if constexpr (sizeof(T) >= 4) bind_each<FieldExtract<T>, T, T, std::uint32_t, std::uint32_t>(b);
  });
}
// PTX ISA, "prmt": each result byte is a byte of b:a, selected by the lower three of four bits; if the top bit is set,
// the selected byte's sign fills the result byte.
struct Permute {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t pick) const {
    const std::uint64_t both = a | static_cast<std::uint64_t>(b) << 32;
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t selector = pick >> (4 * i) & 0xf;
      auto byte = static_cast<std::uint32_t>(both >> (8 * (selector & 7)) & 0xff);
      if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
};
template <bool left, bool clamped>
struct Funnel {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const std::uint32_t n = clamped ? std::min(c, 32U) : c & 31;
    const std::uint64_t both = a | static_cast<std::uint64_t>(b) << 32;
    return static_cast<std::uint32_t>(left ? both << n >> 32 : both >> n);
  }
};
template <bool left>
void funnel(Binder& b) {
  b.has("clamp") ? bind_same<Funnel<left, true>, 3, std::uint32_t>(b)
                 : bind_same<Funnel<left, false>, 3, std::uint32_t>(b);
}
Flow run_lop3(Warp& w, const Instruction& i, Lanes active) {
  const auto looked_up = [&](std::size_t l) {
    const std::uint32_t a = w.lanes<std::uint32_t>(i.a)[l], b = w.lanes<std::uint32_t>(i.b)[l],
                        c = w.lanes<std::uint32_t>(i.c)[l];
    std::uint32_t value = 0;
    for (std::uint32_t row = 0; row < 8; ++row)
      if ((i.number >> row & 1) != 0)
        value |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    return value;
  };
  w.store(i.d, per_lane(looked_up), active);
  return Flow::next;
}
void lop3(Binder& b) {
  b.expect_operands(5, 5);
  b.to().d = b.write(0, 32), b.to().a = b.read(1, 32), b.to().b = b.read(2, 32), b.to().c = b.read(3, 32);
  b.to().number = b.integer(4);
  b.to().run = run_lop3;
}
// PTX ISA, "dp2a" and "dp4a": dot products of the halves or bytes of a with bytes of b, added to c. `high`: with the
// upper bytes of b.
template <class A, class B, bool high>
struct Dot {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const std::uint32_t bytes = high ? b >> 16 : b;
    for (std::size_t i = 0; i < 4 / sizeof(A); ++i)
      c += static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<A>(a >> (bits_in<A> * i))) *
                                      static_cast<std::int32_t>(static_cast<B>(bytes >> (8 * i))));
    return c;
  }
};
template <class A, class B>
void dot_of(Binder& b) {
  b.has("hi") ? bind_same<Dot<A, B, true>, 3, std::uint32_t>(b) : bind_same<Dot<A, B, false>, 3, std::uint32_t>(b);
}
template <class A>
void dot(Binder& b) {
  const bool is_b_signed = b.type() == "s32";
  if (b.word(b.words() - 2) == "s32") return is_b_signed ? dot_of<A, std::int8_t>(b) : dot_of<A, std::uint8_t>(b);
  return is_b_signed ? dot_of<Unsigned<A>, std::int8_t>(b) : dot_of<Unsigned<A>, std::uint8_t>(b);
}

// ---- floats. `flush`: subnormal operands and results become 0.
template <class F, bool flush>
struct Float {
  template <class... T>
  auto operator()(T... x) const {
    if constexpr (flush)
      return flushed(F{}(flushed(x)...));
    else
      return F{}(x...);
  }
};
using Fma = decltype([](auto a, auto b, auto c) { return std::fma(a, b, c); });
template <Rounding rounding>
struct RoundedFma {
  float operator()(float a, float b, float c) const { return fma_rounded(a, b, c, rounding); }
  double operator()(double a, double b, double c) const { return std::fma(a, b, c); }
};
// Sums and products are an fma with 1 or -0, which is exact. Only f32 has these rounding modes here.
template <Rounding rounding>
struct RoundedAdd {
  template <class T>
  T operator()(T a, T b) const {
    return RoundedFma<rounding>{}(a, T{1}, b);
  }
};
template <Rounding rounding>
struct RoundedSubtract {
  template <class T>
  T operator()(T a, T b) const {
    return RoundedFma<rounding>{}(a, T{1}, -b);
  }
};
template <Rounding rounding>
struct RoundedMultiply {
  template <class T>
  T operator()(T a, T b) const {
    return RoundedFma<rounding>{}(a, b, -T{0});
  }
};
// Approximate instructions. Their results are rounded once, if necessary from double, so their errors are within the
// bounds of the manual.
using Reciprocal = decltype([]<class T>(T a) { return T{1} / a; });
using SquareRoot = decltype([](auto a) { return std::sqrt(a); });
using ReciprocalRoot = decltype([]<class T>(T a) { return static_cast<T>(1 / std::sqrt(static_cast<double>(a))); });
using Log2 = decltype([](float a) { return static_cast<float>(std::log2(static_cast<double>(a))); });
using Sine = decltype([](float a) { return static_cast<float>(std::sin(static_cast<double>(a))); });
using Cosine = decltype([](float a) { return static_cast<float>(std::cos(static_cast<double>(a))); });

// Binds a float instruction of f32 with its modifiers .ftz and .sat, or of f64, which does not have these modifiers.
template <class F, int arity>
void bind_float(Binder& b) {
  const auto bind = [&]<class G, class T>(G, Typed<T>) { bind_same<G, arity, T>(b); };
  const bool ftz = b.has("ftz"), sat = b.has("sat");
  with_float(b.type(), [&](auto t) {
    if (ftz)
      sat ? bind(Saturated<Float<F, true>>(), t) : bind(Float<F, true>(), t);
    else
      sat ? bind(Saturated<Float<F, false>>(), t) : bind(Float<F, false>(), t);
  });
}
template <class F>
void approximate(Binder& b) {
  b.has("ftz") ? bind_same<Float<F, true>, 1, float>(b) : bind_same<Float<F, false>, 1, float>(b);
}
template <template <bool> class F>
void extremum(Binder& b) {
  b.has("NaN") ? bind_float<F<true>, 2>(b) : bind_float<F<false>, 2>(b);
}
template <template <Rounding> class F>
void rounded(Binder& b) {
  if (b.has("rm")) return bind_float<F<Rounding::down>, 2>(b);
  if (b.has("rp")) return bind_float<F<Rounding::up>, 2>(b);
  bind_float<F<Rounding::zero>, 2>(b);
}
void fma(Binder& b) {
  if (b.has("rm")) return bind_float<RoundedFma<Rounding::down>, 3>(b);
  if (b.has("rp")) return bind_float<RoundedFma<Rounding::up>, 3>(b);
  if (b.has("rz")) return bind_float<RoundedFma<Rounding::zero>, 3>(b);
  bind_float<Fma, 3>(b);
}

// ---- comparisons
template <class F>
struct Flushed {
  bool operator()(float a, float b) const { return F{}(flushed(a), flushed(b)); }
};

template <class T>
Meaning setp_of(std::string_view word, bool flush) {
  return with_relation<T>(word, [&]<class F>() -> Meaning {
    if constexpr (std::is_same_v<T, float>)
      if (flush) return run_setp<T, Flushed<F>>;
    return run_setp<T, F>;
  });
}

void setp(Binder& b) {
  bind_comparison(b, type_bits(b.type()));
  const auto bind = [&]<class T>(Typed<T>) { b.to().run = setp_of<T>(b.word(1), b.has("ftz")); };
  b.type()[0] == 'f' ? with_float(b.type(), bind) : with_wide_integer(b.type(), bind);
}

template <class T>
Flow run_selp(Warp& w, const Instruction& i, Lanes active) {
  const Lanes pick = w.predicate(i.c) ^ static_cast<Lanes>(i.number);
  const PerLane<T>&a = w.lanes<T>(i.a), &b = w.lanes<T>(i.b);
  w.store(i.d, per_lane([&](std::size_t l) { return (pick >> l & 1) != 0 ? a[l] : b[l]; }), active);
  return Flow::next;
}
void selp(Binder& b) {
  b.expect_operands(4, 4);
  const int bits = type_bits(b.type());
  b.to().d = b.write(0, bits), b.to().a = b.read(1, bits), b.to().b = b.read(2, bits);
  Operand picks = b.operand(3);
  b.to().number = std::exchange(picks.negated, false) ? static_cast<std::int64_t>(all_lanes) : 0;
  b.to().c = b.read(picks, 1);
  b.to().run = bits == 16 ? run_selp<std::uint16_t> : bits == 32 ? run_selp<std::uint32_t> : run_selp<std::uint64_t>;
}

constexpr Row rows[] = {
    {"add.s16|u16|s32|u32|s64|u64", integer<Add, 2>},
    {"sub.s16|u16|s32|u32|s64|u64", integer<Subtract, 2>},
    {"mul.lo.s16|u16|s32|u32|s64|u64", integer<Low, 2>},
    {"mul.hi.s16|u16|s32|u32|s64|u64", integer<High, 2>},
    {"mul.wide.s16|u16|s32|u32", multiply_wide},
    {"mad.lo.s16|u16|s32|u32|s64|u64", integer<LowSum, 3>},
    {"mad.hi.s16|u16|s32|u32|s64|u64", integer<HighSum, 3>},
    {"mad.wide.s16|u16|s32|u32", multiply_add_wide},
    {"add.cc.s32|u32|s64|u64", carrying<First::sum, false, true>},
    {"addc.s32|u32|s64|u64", carrying<First::sum, true, false>},
    {"addc.cc.s32|u32|s64|u64", carrying<First::sum, true, true>},
    {"sub.cc.s32|u32|s64|u64", carrying<First::difference, false, true>},
    {"subc.s32|u32|s64|u64", carrying<First::difference, true, false>},
    {"subc.cc.s32|u32|s64|u64", carrying<First::difference, true, true>},
    {"mad.lo.cc.s32|u32|s64|u64", carrying<First::low, false, true>},
    {"mad.hi.cc.u32|u64", carrying<First::high, false, true>},
    {"madc.hi.u32|u64", carrying<First::high, true, false>},
    {"madc.hi.cc.u32|u64", carrying<First::high, true, true>},
    {"madc.lo.s32|u32|s64|u64", carrying<First::low, true, false>},
    {"madc.lo.cc.s32|u32|s64|u64", carrying<First::low, true, true>},
    {"div.s16|u16|s32|u32|s64|u64", integer<Divide, 2>},
    {"rem.s16|u16|s32|u32|s64|u64", integer<Remainder, 2>},
    {"min.s16|u16|s32|u32|s64|u64", integer<Least, 2>},
    {"max.s16|u16|s32|u32|s64|u64", integer<Most, 2>},
    {"abs.s16|s32|s64", integer<Absolute, 1>},
    {"neg.s16|s32|s64", integer<Negative, 1>},
    {"and.b16|b32|b64", integer<And, 2>},
    {"or.b16|b32|b64", integer<Or, 2>},
    {"xor.b16|b32|b64", integer<Xor, 2>},
    {"not.b16|b32|b64", integer<Not, 1>},
    {"cnot.b16|b32|b64", integer<LogicalNot, 1>},
    {"and.pred", predicates<And>},
    {"or.pred", predicates<Or>},
    {"xor.pred", predicates<Xor>},
    {"not.pred", not_predicate},
    {"shl.b16|b32|b64", shift<ShiftLeft>},
    {"shr.b16|b32|b64|u16|u32|u64|s16|s32|s64", shift<ShiftRight>},
    {"shf.l.wrap|clamp.b32", funnel<true>},
    {"shf.r.wrap|clamp.b32", funnel<false>},
    {"popc.b32|b64", integer_count<Population>},
    {"clz.b32|b64", integer_count<LeadingZeros>},
    {"bfind.{shiftamt}.s32|u32|s64|u64", find_bit},
    {"brev.b32|b64", integer<Reversed, 1>},
    {"bfi.b32|b64", field_insert},
    {"bfe.s32|u32|s64|u64", field_extract},
    {"prmt.b32", bind_same<Permute, 3, std::uint32_t>},
    {"lop3.b32", lop3},
    {"dp2a.lo|hi.u32|s32.u32|s32", dot<std::int16_t>},
    {"dp4a.u32|s32.u32|s32", dot<std::int8_t>},
    {"add.{rn}.{ftz}.{sat}.f32|f64", bind_float<FloatAdd, 2>},
    {"sub.{rn}.{ftz}.{sat}.f32|f64", bind_float<FloatSubtract, 2>},
    {"mul.{rn}.{ftz}.{sat}.f32|f64", bind_float<FloatMultiply, 2>},
    {"add.rm|rp|rz.{ftz}.{sat}.f32", rounded<RoundedAdd>},
    {"sub.rm|rp|rz.{ftz}.{sat}.f32", rounded<RoundedSubtract>},
    {"mul.rm|rp|rz.{ftz}.{sat}.f32", rounded<RoundedMultiply>},
    {"fma.rn|rm|rp|rz.{ftz}.{sat}.f32", fma},
    {"fma.rn.f64", fma},
    {"div.rn|full|approx.{ftz}.f32", bind_float<FloatDivide, 2>},
    {"div.rn.f64", bind_float<FloatDivide, 2>},
    {"min.{ftz}.{NaN}.f32|f64", extremum<FloatLeast>},
    {"max.{ftz}.{NaN}.f32|f64", extremum<FloatMost>},
    {"abs.{ftz}.f32|f64", bind_float<FloatAbsolute, 1>},
    {"neg.{ftz}.f32|f64", bind_float<FloatNegative, 1>},
    {"copysign.f32|f64", bind_float<CopySign, 2>},
    {"rcp.rn|approx.{ftz}.f32|f64", bind_float<Reciprocal, 1>},
    {"sqrt.rn|approx.{ftz}.f32|f64", bind_float<SquareRoot, 1>},
    {"rsqrt.approx.{ftz}.f32|f64", bind_float<ReciprocalRoot, 1>},
    {"ex2.approx.{ftz}.f32", approximate<Exp2>},
    {"lg2.approx.{ftz}.f32", approximate<Log2>},
    {"sin.approx.{ftz}.f32", approximate<Sine>},
    {"cos.approx.{ftz}.f32", approximate<Cosine>},
    {"tanh.approx.f32", approximate<Tanh>},
    {"setp.eq|ne|lt|le|gt|ge|lo|ls|hi|hs.{and|or|xor}.b16|b32|b64|u16|u32|u64|s16|s32|s64", setp},
    {"setp.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.{and|or|xor}.{ftz}.f32|f64", setp},
    {"selp.b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", selp},
};

}  // namespace

std::span<const Row> arithmetic_rows() { return rows; }

}  // namespace deplo::measure::ptx
