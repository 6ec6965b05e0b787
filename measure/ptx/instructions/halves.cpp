// Arithmetic and comparisons of the 16-bit floats, alone and in pairs (PTX ISA, "Half Precision Floating-Point
// Instructions"). Values are computed in f32 and then rounded. For sums, differences and products, this equals the
// exact result rounded once (Figueroa: When is double rounding innocuous?, 1995).
#include <bit>
#include <cstdint>

#include "ir/types/float16.h"
#include "measure/ptx/instructions/comparison.h"
#include "measure/ptx/instructions/float_functions.h"
#include "measure/ptx/instructions/lanes.h"
#include "measure/ptx/instructions/rounding.h"
#include "measure/ptx/instructions/table.h"

namespace deplo::measure::ptx {
namespace {

using ir::DType;

/// Applies a function of floats to 16-bit floats.
template <DType type, class F>
struct OfHalves {
  template <class... T>
  std::uint16_t operator()(T... x) const {
    return ir::float16_bits(F{}(ir::float16_value(x, type)...), type);
  }
};
/// Applies a function of 16 bits to the lower halves and to the upper halves of its operands.
template <class F>
struct OfPairs {
  template <class... T>
  std::uint32_t operator()(T... x) const {
    const std::uint32_t low = F{}(static_cast<std::uint16_t>(x)...), high = F{}(static_cast<std::uint16_t>(x >> 16)...);
    return low | high << 16;
  }
};

template <DType type, class F, int arity>
void bind_halves_of(Binder& b, bool pairs) {
  using Each = OfHalves<type, F>;
  pairs ? bind_same<OfPairs<Each>, arity, std::uint32_t>(b) : bind_same<Each, arity, std::uint16_t>(b);
}
template <class F, int arity>
void bind_halves(Binder& b) {
  const bool pairs = b.type().ends_with("x2");
  b.type().starts_with("bf16") ? bind_halves_of<DType::bf16, F, arity>(b, pairs)
                               : bind_halves_of<DType::f16, F, arity>(b, pairs);
}

/// PTX ISA, "fma": .relu makes negative results 0. A NaN stays a NaN.
template <class F>
struct NotNegative {
  template <class... T>
  float operator()(T... x) const {
    const float value = F{}(x...);
    return std::isnan(value) || value > 0 ? value : 0.0F;
  }
};
template <class F, int arity>
void bind_modified(Binder& b) {
  if (b.has("sat")) return bind_halves<Saturated<F>, arity>(b);
  b.has("relu") ? bind_halves<NotNegative<F>, arity>(b) : bind_halves<F, arity>(b);
}

/// Rounds to odd, so that rounding the result to 16 bits equals rounding the exact sum once (Boldo and Melquiond:
/// Emulation of FMA and correctly rounded sums, 2008).
struct OddFma {
  float operator()(float a, float b, float c) const {
    const float down = fma_rounded(a, b, c, Rounding::down), up = fma_rounded(a, b, c, Rounding::up);
    if (down == up || std::isnan(down)) return std::fma(a, b, c);
    return (std::bit_cast<std::uint32_t>(down) & 1) != 0 ? down : up;
  }
};

template <template <bool> class F>
void extremum(Binder& b) {
  b.has("NaN") ? bind_halves<F<true>, 2>(b) : bind_halves<F<false>, 2>(b);
}

// ---- comparisons
template <DType type, class F>
struct Compared {
  bool operator()(std::uint16_t a, std::uint16_t b) const {
    return F{}(ir::float16_value(a, type), ir::float16_value(b, type));
  }
};
template <DType type>
Meaning setp_of(std::string_view word) {
  return with_relation<float>(word, []<class F>() -> Meaning { return run_setp<std::uint16_t, Compared<type, F>>; });
}
void setp(Binder& b) {
  bind_comparison(b, 16);
  b.to().run = b.type() == "bf16" ? setp_of<DType::bf16>(b.word(1)) : setp_of<DType::f16>(b.word(1));
}

/// PTX ISA, "set": 1 or 0 of the float type, or a mask of 16 bits.
template <class F>
struct Truth {
  float operator()(float a, float b) const { return F{}(a, b) ? 1.0F : 0.0F; }
};
template <DType type, class F>
struct Mask {
  std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const { return Compared<type, F>{}(a, b) ? 0xffff : 0; }
};
template <class F>
void bind_set(Binder& b) {
  if (b.word(2) != "u32") return bind_halves<Truth<F>, 2>(b);
  b.type() == "bf16x2" ? bind_same<OfPairs<Mask<DType::bf16, F>>, 2, std::uint32_t>(b)
                       : bind_same<OfPairs<Mask<DType::f16, F>>, 2, std::uint32_t>(b);
}
void set(Binder& b) {
  with_relation<float>(b.word(1), [&]<class F>() -> Meaning {
    bind_set<F>(b);
    return b.to().run;
  });
}

constexpr Row rows[] = {
    {"add.{rn}.{sat}.f16|bf16|f16x2|bf16x2", bind_modified<FloatAdd, 2>},
    {"sub.{rn}.{sat}.f16|bf16|f16x2|bf16x2", bind_modified<FloatSubtract, 2>},
    {"mul.{rn}.{sat}.f16|bf16|f16x2|bf16x2", bind_modified<FloatMultiply, 2>},
    {"fma.rn.{sat|relu}.f16|bf16|f16x2|bf16x2", bind_modified<OddFma, 3>},
    {"min.{NaN}.f16|bf16|f16x2|bf16x2", extremum<FloatLeast>},
    {"max.{NaN}.f16|bf16|f16x2|bf16x2", extremum<FloatMost>},
    {"abs.f16|bf16|f16x2|bf16x2", bind_halves<FloatAbsolute, 1>},
    {"neg.f16|bf16|f16x2|bf16x2", bind_halves<FloatNegative, 1>},
    {"ex2.approx.f16|f16x2", bind_halves<Exp2, 1>},
    {"ex2.approx.ftz.bf16|bf16x2", bind_halves<Exp2, 1>},
    {"tanh.approx.f16|bf16|f16x2|bf16x2", bind_halves<Tanh, 1>},
    {"setp.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.{and|or|xor}.f16|bf16", setp},
    {"set.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.f16.f16", set},
    {"set.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.bf16.bf16", set},
    {"set.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.f16x2|u32.f16x2", set},
    {"set.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.bf16x2|u32.bf16x2", set},
};

}  // namespace

std::span<const Row> half_rows() { return rows; }

}  // namespace deplo::measure::ptx
