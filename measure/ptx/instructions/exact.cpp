// Instructions on floats that are elements of an arithmetic instead of numbers (measure/ptx/floats.h).
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "measure/ptx/floats.h"
#include "measure/ptx/instructions/comparison.h"
#include "measure/ptx/instructions/lanes.h"
#include "measure/ptx/instructions/table.h"
#include "measure/ptx/machine.h"
#include "measure/ptx/warp/warp_memory.h"

namespace deplo::measure::ptx {
namespace {

using ir::DType;
using ir::Op;
using Bits = std::uint32_t;

Floats& floats_of(const Warp& w) { return *w.machine().options().floats; }

// Only active lanes are decoded. The register of an inactive lane may have any bits, and these must not become
// elements.
PerLane<double> load(Warp& w, RegisterPlace place, Lanes active) {
  Floats& floats = floats_of(w);
  const PerLane<Bits>& bits = w.lanes<Bits>(place);
  PerLane<double> values{};
  for_each_lane(active, [&](std::size_t l) { values[l] = floats.decode(bits[l]); });
  return values;
}
void store(Warp& w, RegisterPlace place, const PerLane<double>& values, Lanes active) {
  Floats& floats = floats_of(w);
  PerLane<Bits>& bits = w.lanes<Bits>(place);
  for_each_lane(active, [&](std::size_t l) { bits[l] = floats.encode(values[l]); });
}

template <Op op, int arity>
Flow run_op(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<double> a = load(w, i.a, active);
  PerLane<double> b{}, c{}, d{};
  if constexpr (arity > 1) b = load(w, i.b, active);
  if constexpr (arity > 2) c = load(w, i.c, active);
  floats_of(w).arithmetic().apply(op, warp_lanes, d.data(), a.data(), b.data(), c.data());
  store(w, i.d, d, active);
  return Flow::next;
}

template <int arity>
void bind_operands(Binder& b) {
  if (b.has("sat")) b.fail("no .sat in a proof, where floats are not numbers");
  if constexpr (arity == 1) b.registers(32, {32});
  if constexpr (arity == 2) b.registers(32, {32, 32});
  if constexpr (arity == 3) b.registers(32, {32, 32, 32});
}
template <Op op, int arity>
void operation(Binder& b) {
  bind_operands<arity>(b);
  b.to().run = run_op<op, arity>;
}

// PTX ISA, "min": if one operand is NaN, the result is NaN with .NaN, else the other operand.
template <Op op, bool keeps_nan>
Flow run_extremum(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<double> a = load(w, i.a, active), b = load(w, i.b, active);
  PerLane<double> d{};
  floats_of(w).arithmetic().apply(op, warp_lanes, d.data(), a.data(), b.data(), nullptr);
  for (std::size_t l = 0; l < warp_lanes; ++l) {
    if (std::isnan(a[l])) d[l] = keeps_nan ? a[l] : b[l];
    if (std::isnan(b[l])) d[l] = keeps_nan ? b[l] : a[l];
  }
  store(w, i.d, d, active);
  return Flow::next;
}
template <Op op>
void extremum(Binder& b) {
  bind_operands<2>(b);
  b.to().run = b.has("NaN") ? run_extremum<op, true> : run_extremum<op, false>;
}

// ---- comparisons: elements are compared as doubles
template <class F>
Flow run_exact_setp(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<double> a = load(w, i.a, active), b = load(w, i.b, active);
  return set_predicates(w, i, lanes_where([&](std::size_t l) { return F{}(a[l], b[l]); }), active);
}

void setp(Binder& b) {
  bind_comparison(b, 32);
  b.to().run = with_relation<double>(b.word(1), []<class F>() -> Meaning { return run_exact_setp<F>; });
}

// ---- cvt between floats. The arithmetic does the rounding.
template <DType type>
Flow run_widen(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<std::uint16_t> a = w.lanes<std::uint16_t>(i.a);
  PerLane<double> d{};
  for_each_lane(active, [&](std::size_t l) { d[l] = floats_of(w).decode(a[l], type); });
  store(w, i.d, d, active);
  return Flow::next;
}

double positive(double value) { return std::isnan(value) || value > 0 ? value : 0; }

template <DType type, bool relu>
std::uint16_t narrowed(Floats& floats, double value) {
  return floats.encode(floats.arithmetic().stored(relu ? positive(value) : value, type), type);
}

template <DType type, bool relu>
Flow run_narrow(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<double> a = load(w, i.a, active);
  PerLane<std::uint16_t>& d = w.lanes<std::uint16_t>(i.d);
  for_each_lane(active, [&](std::size_t l) { d[l] = narrowed<type, relu>(floats_of(w), a[l]); });
  return Flow::next;
}

// PTX ISA, "cvt": the first operand goes to the upper half.
template <DType type, bool relu>
Flow run_narrow_pair(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<double> a = load(w, i.a, active), b = load(w, i.b, active);
  PerLane<Bits>& d = w.lanes<Bits>(i.d);
  for_each_lane(active, [&](std::size_t l) {
    const Bits high = narrowed<type, relu>(floats_of(w), a[l]), low = narrowed<type, relu>(floats_of(w), b[l]);
    d[l] = high << 16 | low;
  });
  return Flow::next;
}

template <DType type>
void widen(Binder& b) {
  b.registers(32, {16});
  b.to().run = run_widen<type>;
}
template <DType type>
void narrow(Binder& b) {
  b.registers(16, {32});
  b.to().run = b.has("relu") ? run_narrow<type, true> : run_narrow<type, false>;
}
template <DType type>
void narrow_pair(Binder& b) {
  b.registers(32, {32, 32});
  b.to().run = b.has("relu") ? run_narrow_pair<type, true> : run_narrow_pair<type, false>;
}

// ---- cvt from and to integers
template <class Integer>
Flow run_from_integer(Warp& w, const Instruction& i, Lanes active) {
  using Register = std::conditional_t<sizeof(Integer) < 2, std::uint16_t, std::make_unsigned_t<Integer>>;
  PerLane<double> d{};
  for_each_lane(active, [&](std::size_t l) {
    const auto value = static_cast<Integer>(w.lanes<Register>(i.a)[l]);
    d[l] = value == 0 ? 0 : floats_of(w).arithmetic().constant(static_cast<double>(value));
  });
  store(w, i.d, d, active);
  return Flow::next;
}
void from_integer(Binder& b) {
  b.expect_operands(2, 2);
  b.to().d = b.write(0, 32);
  const int bits = std::max(type_bits(b.type()), 16);
  if (b.bits_of(b.operand(1), bits) != bits) b.fail("a register of the type's bits");
  b.to().a = b.read(1, bits);
  with_integer(b.type(), [&]<class T>(Typed<T>) { b.to().run = run_from_integer<T>; });
}

template <class Integer, DType type>
Flow run_to_integer(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<double> a = load(w, i.a, active);
  PerLane<Integer>& d = w.lanes<Integer>(i.d);
  for_each_lane(active,
                [&](std::size_t l) { d[l] = static_cast<Integer>(floats_of(w).arithmetic().integer(a[l], type)); });
  return Flow::next;
}
void to_integer(Binder& b) {
  const bool wide = b.has("s64");
  b.registers(wide ? 64 : 32, {32});
  b.to().run = wide ? run_to_integer<std::int64_t, DType::i64> : run_to_integer<std::int32_t, DType::i32>;
}

// ---- atom.add and red.add
Flow run_atomic_add(Warp& w, const Instruction& i, Lanes active) {
  Floats& floats = floats_of(w);
  return update_memory<Bits>(w, i, active, [&](Bits old, Bits operand, Bits) {
    const double a = floats.decode(old), b = floats.decode(operand);
    double sum = 0;
    floats.arithmetic().apply(Op::add, 1, &sum, &a, &b, nullptr);
    return floats.encode(sum);
  });
}
void atomic_add(Binder& b) {
  bind_atomic(b);
  b.to().run = run_atomic_add;
}

constexpr Row rows[] = {
    {"add.{rn}.{ftz}.f32", operation<Op::add, 2>},
    {"sub.{rn}.{ftz}.f32", operation<Op::subtract, 2>},
    {"mul.{rn}.{ftz}.f32", operation<Op::multiply, 2>},
    {"fma.rn.{ftz}.f32", operation<Op::fma, 3>},
    {"div.rn|full|approx.{ftz}.f32", operation<Op::divide, 2>},
    {"min.{ftz}.{NaN}.f32", extremum<Op::minimum>},
    {"max.{ftz}.{NaN}.f32", extremum<Op::maximum>},
    {"abs.{ftz}.f32", operation<Op::absolute, 1>},
    {"neg.{ftz}.f32", operation<Op::negative, 1>},
    {"rcp.rn|approx.{ftz}.f32", operation<Op::reciprocal, 1>},
    {"sqrt.rn|approx.{ftz}.f32", operation<Op::sqrt, 1>},
    {"rsqrt.approx.{ftz}.f32", operation<Op::rsqrt, 1>},
    {"ex2.approx.{ftz}.f32", operation<Op::exp2, 1>},
    {"sin.approx.{ftz}.f32", operation<Op::sin, 1>},
    {"cos.approx.{ftz}.f32", operation<Op::cos, 1>},
    {"tanh.approx.f32", operation<Op::tanh, 1>},
    {"setp.eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan.{and|or|xor}.{ftz}.f32", setp},
    {"cvt.f32.f16", widen<DType::f16>},
    {"cvt.f32.bf16", widen<DType::bf16>},
    {"cvt.rn.{relu}.f16.f32", narrow<DType::f16>},
    {"cvt.rn.{relu}.bf16.f32", narrow<DType::bf16>},
    {"cvt.rn.{relu}.f16x2.f32", narrow_pair<DType::f16>},
    {"cvt.rn.{relu}.bf16x2.f32", narrow_pair<DType::bf16>},
    {"cvt.rna.tf32.f32", operation<Op::round_tf32, 1>},
    {"cvt.rn.f32.s8|s16|s32|s64|u8|u16|u32|u64", from_integer},
    {"cvt.rzi.s32|s64.f32", to_integer},
    {"atom.{relaxed|acquire|release|acq_rel}.{cta|cluster|gpu|sys}.{global|shared|shared::cta|shared::cluster}"
     ".add.{v2|v4}.f32",
     atomic_add},
    {"red.{relaxed|release}.{cta|cluster|gpu|sys}.{global|shared|shared::cta|shared::cluster}.add.{v2|v4}.f32",
     atomic_add},
    // instructions of exact_prelude()
    {"deplo.exp.f32", operation<Op::exp, 1>},
    {"deplo.log.f32", operation<Op::log, 1>},
    {"deplo.sqrt.f32", operation<Op::sqrt, 1>},
    {"deplo.rsqrt.f32", operation<Op::rsqrt, 1>},
    {"deplo.tanh.f32", operation<Op::tanh, 1>},
    {"deplo.erf.f32", operation<Op::erf, 1>},
    {"deplo.sin.f32", operation<Op::sin, 1>},
    {"deplo.cos.f32", operation<Op::cos, 1>},
    {"deplo.pow.f32", operation<Op::power, 2>},
};

}  // namespace

std::span<const Row> exact_rows() { return rows; }

}  // namespace deplo::measure::ptx
