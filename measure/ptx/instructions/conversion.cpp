// Moves, conversions between types, and conversions between generic addresses and the addresses of a space.
#include <algorithm>
#include <limits>

#include "ir/types/float16.h"
#include "measure/ptx/address.h"
#include "measure/ptx/instructions/lanes.h"
#include "measure/ptx/instructions/rounding.h"
#include "measure/ptx/instructions/table.h"

namespace deplo::measure::ptx {
namespace {

using Same = decltype([](auto a) { return a; });

__extension__ using Int128 = __int128;

// ---- mov
Flow run_move_predicate(Warp& w, const Instruction& i, Lanes active) {
  w.store_predicate(i.d, w.predicate(i.a), active);
  return Flow::next;
}

// Packs {low, …, high} into one register, or unpacks one register.
template <class Whole, class Part>
Flow run_pack(Warp& w, const Instruction& i, Lanes active) {
  PerLane<Whole> r{};
  for (std::size_t p = 0; p < i.detail->a.size(); ++p)
    for (std::size_t l = 0; l < warp_lanes; ++l)
      r[l] |= static_cast<Whole>(static_cast<Whole>(w.lanes<Part>(i.detail->a[p])[l]) << (p * bits_in<Part>));
  w.store(i.d, r, active);
  return Flow::next;
}
template <class Whole, class Part>
Flow run_unpack(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<Whole> a = w.lanes<Whole>(i.a);
  for (std::size_t p = 0; p < i.detail->d.size(); ++p) {
    const auto part = [&](std::size_t l) { return static_cast<Part>(a[l] >> (p * bits_in<Part>)); };
    w.store(i.detail->d[p], per_lane(part), active);
  }
  return Flow::next;
}

void move_list(Binder& b, bool pack) {
  const int whole = type_bits(b.type());
  const std::vector<Operand> parts = b.elements(pack ? 1 : 0);
  const int part = parts.empty() ? 0 : whole / static_cast<int>(parts.size());
  if (part < 16 || part * static_cast<int>(parts.size()) != whole || whole == part)
    b.fail("two or four parts of 16 or 32 bits");
  for (const Operand& o : parts) {
    const RegisterPlace place = pack ? b.read(o, part) : b.write(o, part);
    (pack ? b.detail().a : b.detail().d).push_back(place);
  }
  if (pack)
    b.to().d = b.write(0, whole);
  else
    b.to().a = b.read(1, whole);
  if (whole == 32)
    b.to().run = pack ? run_pack<std::uint32_t, std::uint16_t> : run_unpack<std::uint32_t, std::uint16_t>;
  else if (part == 32)
    b.to().run = pack ? run_pack<std::uint64_t, std::uint32_t> : run_unpack<std::uint64_t, std::uint32_t>;
  else
    b.to().run = pack ? run_pack<std::uint64_t, std::uint16_t> : run_unpack<std::uint64_t, std::uint16_t>;
}

void move(Binder& b) {
  b.expect_operands(2, 2);
  if (b.operand(0).kind == Operand::Kind::list) return move_list(b, false);
  if (b.operand(1).kind == Operand::Kind::list) return move_list(b, true);
  const int bits = type_bits(b.type());
  if (bits > 1) return with_register(bits, [&]<class T>(Typed<T>) { bind_same<Same, 1, T>(b); });
  b.registers(1, {1});
  b.to().run = run_move_predicate;
}

// ---- cvt. The Detail has the bits of registers and types: m and n are those of the source's register and type, k and
// format those of the destination's. The bits of a type are negative if it is signed.
using Integers = PerLane<std::int64_t>;
using Numbers = PerLane<double>;

std::int64_t narrowed(std::int64_t x, int type) {
  const int spare = 64 - std::abs(type);
  const auto shifted = static_cast<std::uint64_t>(x) << spare;
  return type < 0 ? static_cast<std::int64_t>(shifted) >> spare : static_cast<std::int64_t>(shifted >> spare);
}

Integers load_integers(Warp& w, RegisterPlace place, int bits, int type) {
  Integers x;
  with_register(bits, [&]<class T>(Typed<T>) {
    const PerLane<T>& lanes = w.lanes<T>(place);
    x = per_lane([&](std::size_t l) { return narrowed(static_cast<std::int64_t>(lanes[l]), type); });
  });
  return x;
}

void store_integers(Warp& w, RegisterPlace place, int bits, int type, const Integers& x, Lanes active) {
  with_register(bits, [&]<class T>(Typed<T>) {
    w.store(place, per_lane([&](std::size_t l) { return static_cast<T>(narrowed(x[l], type)); }), active);
  });
}

Flow run_integer_to_integer(Warp& w, const Instruction& i, Lanes active) {
  const Detail& t = *i.detail;
  store_integers(w, i.d, t.k, t.format, load_integers(w, i.a, t.m, t.n), active);
  return Flow::next;
}

/// Returns the least and the greatest integer of a type.
std::pair<Int128, Int128> range_of(int type) {
  const Int128 greatest = (Int128{1} << (type < 0 ? -type - 1 : type)) - 1;
  return {type < 0 ? -greatest - 1 : 0, greatest};
}

// PTX ISA, "cvt", .sat: the nearest number that the destination can hold.
Flow run_saturated_integer(Warp& w, const Instruction& i, Lanes active) {
  const Detail& t = *i.detail;
  Integers x = load_integers(w, i.a, t.m, t.n);
  const auto [low, high] = range_of(t.format);
  for (std::int64_t& value : x) {
    const Int128 exact = t.n < 0 ? Int128{value} : Int128{static_cast<std::uint64_t>(value)};
    value = static_cast<std::int64_t>(std::clamp(exact, low, high));
  }
  store_integers(w, i.d, t.k, t.format, x, active);
  return Flow::next;
}

// Rounds an integer to T. A long double holds every 64-bit integer exactly.
template <class T>
T rounded(std::int64_t x, bool is_signed, Rounding rounding) {
  const T nearest = is_signed ? static_cast<T>(x) : static_cast<T>(static_cast<std::uint64_t>(x));
  if (rounding == Rounding::nearest) return nearest;
  using Wide = long double;
  const Wide exact = is_signed ? static_cast<Wide>(x) : static_cast<Wide>(static_cast<std::uint64_t>(x));
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const bool down = rounding == Rounding::down || (rounding == Rounding::zero && exact > 0);
  if (down && nearest > exact) return std::nextafter(nearest, -infinity);
  if (!down && nearest < exact) return std::nextafter(nearest, infinity);
  return nearest;
}

template <class T, class Word>
Flow run_integer_to_float(Warp& w, const Instruction& i, Lanes active) {
  const Detail& t = *i.detail;
  const Integers x = load_integers(w, i.a, t.m, t.n);
  const auto word = [&](std::size_t l) -> Word {
    const T value = rounded<T>(x[l], t.n < 0, static_cast<Rounding>(i.number));
    if constexpr (sizeof(Word) == 2)
      return ir::float16_bits(value, t.b_transposed ? ir::DType::bf16 : ir::DType::f16);
    else
      return std::bit_cast<Word>(value);
  };
  w.store(i.d, per_lane(word), active);
  return Flow::next;
}

enum class Type { f32, f64, f16, bf16 };
Type float_type(std::string_view word) {
  return word == "f64" ? Type::f64 : word == "f16" ? Type::f16 : word == "bf16" ? Type::bf16 : Type::f32;
}
ir::DType dtype(Type type) { return type == Type::bf16 ? ir::DType::bf16 : ir::DType::f16; }

template <Type type>
Numbers load_floats(Warp& w, RegisterPlace place) {
  return per_lane([&](std::size_t l) -> double {
    if constexpr (type == Type::f32)
      return w.lanes<float>(place)[l];
    else if constexpr (type == Type::f64)
      return w.lanes<double>(place)[l];
    else
      return ir::float16_value(w.lanes<std::uint16_t>(place)[l], dtype(type));
  });
}

template <Type type>
void store_floats(Warp& w, RegisterPlace place, const Numbers& x, Lanes active) {
  if constexpr (type == Type::f64) return w.store(place, x, active);
  const auto as_f32 = [&](std::size_t l) { return static_cast<float>(x[l]); };
  if constexpr (type == Type::f32) return w.store(place, per_lane(as_f32), active);
  w.store(place, per_lane([&](std::size_t l) { return ir::float16_bits(as_f32(l), dtype(type)); }), active);
}

// i.number: how to round to an integer: 'n'earest even, 'z'ero, 'm'inus or 'p'lus infinity; 0: do not round. i.size is
// a set of flags: 1 flush, 2 saturate, 4 relu.
double to_integer(double x, std::int64_t mode) {
  return mode == 'n'   ? std::nearbyint(x)
         : mode == 'z' ? std::trunc(x)
         : mode == 'm' ? std::floor(x)
         : mode == 'p' ? std::ceil(x)
                       : x;
}
double flushed_as_f32(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

template <Type from>
Flow run_float_to_integer(Warp& w, const Instruction& i, Lanes active) {
  const Numbers x = load_floats<from>(w, i.a);
  const Detail& t = *i.detail;
  const auto [low, high] = range_of(t.format);
  const auto integer = [&](std::size_t l) {
    const double value = to_integer((i.size & 1) != 0 ? flushed_as_f32(x[l]) : x[l], i.number);
    const Int128 nearest = std::isnan(value)                    ? 0  // PTX ISA, "cvt": NaN becomes 0
                           : value >= static_cast<double>(high) ? high
                           : value <= static_cast<double>(low)  ? low
                                                                : static_cast<Int128>(value);
    return static_cast<std::int64_t>(nearest);
  };
  store_integers(w, i.d, t.k, t.format, per_lane(integer), active);
  return Flow::next;
}

template <Type to, Type from>
Flow run_float_to_float(Warp& w, const Instruction& i, Lanes active) {
  Numbers x = load_floats<from>(w, i.a);
  for (double& value : x) {
    if ((i.size & 1) != 0) value = flushed_as_f32(value);
    value = to_integer(value, i.number);
    if ((i.size & 2) != 0) value = value > 0 ? std::min(value, 1.0) : 0;
    if ((i.size & 4) != 0) value = std::isnan(value) || value > 0 ? value : 0;  // .relu
    if ((i.size & 1) != 0 && to == Type::f32) value = flushed_as_f32(static_cast<float>(value));
  }
  store_floats<to>(w, i.d, x, active);
  return Flow::next;
}

/// Returns visit.operator()<type>().
template <class Visit>
Meaning with_type(Type type, const Visit& visit) {
  if (type == Type::f32) return visit.template operator()<Type::f32>();
  if (type == Type::f64) return visit.template operator()<Type::f64>();
  if (type == Type::f16) return visit.template operator()<Type::f16>();
  return visit.template operator()<Type::bf16>();
}

int signed_bits(std::string_view type) { return type[0] == 's' ? -type_bits(type) : type_bits(type); }

void set_modifiers(Binder& b) {
  for (const char mode : {'n', 'z', 'm', 'p'})
    if (b.has(std::string{'r', mode, 'i'})) b.to().number = mode;
  b.to().size = static_cast<std::uint8_t>((b.has("ftz") ? 1 : 0) | (b.has("sat") ? 2 : 0) | (b.has("relu") ? 4 : 0));
}

void bind_source_integer(Binder& b, std::string_view type) {
  b.detail().m = b.bits_of(b.operand(1), type_bits(type));
  b.detail().n = signed_bits(type);
  b.to().a = b.read(1, b.detail().m);
}
void bind_target_integer(Binder& b, std::string_view type) {
  b.detail().k = b.bits_of(b.operand(0), type_bits(type));
  b.detail().format = signed_bits(type);
  b.to().d = b.write(0, b.detail().k);
}

void convert_integer(Binder& b) {
  b.expect_operands(2, 2);
  bind_source_integer(b, b.type());
  bind_target_integer(b, b.word(b.words() - 2));
  b.to().run = b.has("sat") ? run_saturated_integer : run_integer_to_integer;
}

Rounding rounding_of(const Binder& b) {
  return b.has("rz") ? Rounding::zero : b.has("rm") ? Rounding::down : b.has("rp") ? Rounding::up : Rounding::nearest;
}

void convert_to_float(Binder& b) {
  b.expect_operands(2, 2);
  const std::string_view to = b.word(b.words() - 2);
  bind_source_integer(b, b.type());
  b.to().d = b.write(0, type_bits(to));
  b.detail().b_transposed = to == "bf16";
  b.to().number = static_cast<std::int64_t>(rounding_of(b));
  b.to().run = to == "f64"   ? run_integer_to_float<double, std::uint64_t>
               : to == "f32" ? run_integer_to_float<float, std::uint32_t>
                             : run_integer_to_float<float, std::uint16_t>;
}

void convert_to_integer(Binder& b) {
  b.expect_operands(2, 2);
  set_modifiers(b);
  bind_target_integer(b, b.word(b.words() - 2));
  b.to().a = b.read(1, type_bits(b.type()));
  b.to().run = with_type(float_type(b.type()), []<Type from>() -> Meaning { return run_float_to_integer<from>; });
}

void convert_float(Binder& b) {
  b.expect_operands(2, 2);
  set_modifiers(b);
  const std::string_view to = b.word(b.words() - 2);
  const Type from = float_type(b.type());
  b.to().d = b.write(0, type_bits(to)), b.to().a = b.read(1, type_bits(b.type()));
  b.to().run = with_type(float_type(to), [&]<Type t>() {
    return with_type(from, []<Type f>() -> Meaning { return run_float_to_float<t, f>; });
  });
}

// PTX ISA, "cvt": the first operand goes to the upper half.
template <ir::DType type, bool relu>
struct Pair {
  std::uint32_t operator()(float a, float b) const {
    const auto bits = [](float x) -> std::uint32_t {
      return ir::float16_bits(relu && !(std::isnan(x) || x > 0) ? 0.0F : x, type);
    };
    return bits(a) << 16 | bits(b);
  }
};
void convert_pair(Binder& b) {
  const bool relu = b.has("relu");
  if (b.has("bf16x2"))
    relu ? bind_each<Pair<ir::DType::bf16, true>, std::uint32_t, float, float>(b)
         : bind_each<Pair<ir::DType::bf16, false>, std::uint32_t, float, float>(b);
  else
    relu ? bind_each<Pair<ir::DType::f16, true>, std::uint32_t, float, float>(b)
         : bind_each<Pair<ir::DType::f16, false>, std::uint32_t, float, float>(b);
}

using ToTf32 = decltype([](float a) { return static_cast<float>(ir::rounded_tf32(static_cast<double>(a))); });

// ---- cvta
template <bool to_space, std::uint64_t window>
struct ConvertAddress {
  std::uint64_t operator()(std::uint64_t a) const {
    if (!to_space) return a | window;
    return (a & window_mask) == window ? a & ~window_mask : a;
  }
};
template <std::uint64_t window>
void convert_address_of(Binder& b) {
  b.has("to") ? bind_same<ConvertAddress<true, window>, 1, std::uint64_t>(b)
              : bind_same<ConvertAddress<false, window>, 1, std::uint64_t>(b);
}
void convert_address(Binder& b) {
  if (b.has("shared") || b.has("shared::cta") || b.has("shared::cluster")) return convert_address_of<shared_window>(b);
  if (b.has("local")) return convert_address_of<local_window>(b);
  if (b.has("param")) return convert_address_of<param_window>(b);
  bind_same<Same, 1, std::uint64_t>(b);
}

constexpr Row rows[] = {
    {"mov.pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", move},
    {"cvt.{sat}.s8|s16|s32|s64|u8|u16|u32|u64.s8|s16|s32|s64|u8|u16|u32|u64", convert_integer},
    {"cvt.rz|rm|rp.f32|f64.s8|s16|s32|s64|u8|u16|u32|u64", convert_to_float},
    {"cvt.rn.{sat}.f32|f64|f16|bf16.s8|s16|s32|s64|u8|u16|u32|u64", convert_to_float},
    {"cvt.rni|rzi|rmi|rpi.{ftz}.{sat}.s8|s16|s32|s64|u8|u16|u32|u64.f32|f64|f16|bf16", convert_to_integer},
    {"cvt.{rn|rni|rzi|rmi|rpi}.{ftz}.{relu}.{sat}.f32|f64|f16|bf16.f32|f64|f16|bf16", convert_float},
    {"cvt.rn.{relu}.f16x2|bf16x2.f32", convert_pair},
    {"cvt.rna.tf32.f32", bind_same<ToTf32, 1, float>},
    {"cvta.{to}.global|const|local|param|shared|shared::cta|shared::cluster.u64", convert_address},
};

}  // namespace

std::span<const Row> conversion_rows() { return rows; }

}  // namespace deplo::measure::ptx
