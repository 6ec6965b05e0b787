// Comparisons of two operands, lane by lane (PTX ISA, "setp").
#pragma once
#include <cmath>
#include <string_view>
#include <type_traits>

#include "measure/ptx/decode.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

enum class Relation { eq, ne, lt, le, gt, ge, num, nan };

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

/// Compares two values. `unordered`: the result if an operand is NaN.
template <class T, Relation relation, bool unordered>
struct Related {
  bool operator()(T a, T b) const {
    using enum Relation;
    if constexpr (relation == num) return !is_nan(a) && !is_nan(b);
    if constexpr (relation == nan) return is_nan(a) || is_nan(b);
    if (is_nan(a) || is_nan(b)) return unordered;
    if constexpr (relation == eq) return a == b;
    if constexpr (relation == ne) return a != b;
    if constexpr (relation == lt) return a < b;
    if constexpr (relation == le) return a <= b;
    if constexpr (relation == gt) return a > b;
    return a >= b;
  }
};

/// Returns use.operator()<F>(), in which F is the Related for the word of a comparison, such as "lt", "ltu" or "lo".
template <class T, class Use>
Meaning with_relation(std::string_view word, const Use& use) {
  using enum Relation;
  const bool is_float = std::is_floating_point_v<T>, of_nan = word == "num" || word == "nan";
  const bool unordered = is_float && !of_nan && word.size() == 3;
  const std::string_view name = unordered ? word.substr(0, 2) : word;
  const auto make = [&]<Relation r>() -> Meaning {
    if constexpr (std::is_floating_point_v<T>)
      if (unordered) return use.template operator()<Related<T, r, true>>();
    return use.template operator()<Related<T, r, false>>();
  };
  if (name == "eq") return make.template operator()<eq>();
  if (name == "ne") return make.template operator()<ne>();
  if (name == "lt" || name == "lo") return make.template operator()<lt>();
  if (name == "le" || name == "ls") return make.template operator()<le>();
  if (name == "gt" || name == "hi") return make.template operator()<gt>();
  if (name == "ge" || name == "hs") return make.template operator()<ge>();
  if (name == "num") return make.template operator()<num>();
  return make.template operator()<nan>();
}

/// Writes the result predicates of a setp. `result`: the lanes in which the comparison is true. Instruction::number: 0: the comparison alone; 1, 2, 3: the comparison
/// combined with predicate c by and, or, xor. If `size` is not 0, Instruction::e gets the result for the negated
/// comparison.
inline Flow set_predicates(Warp& w, const Instruction& i, Lanes result, Lanes active) {
  const Lanes c = i.number == 0 ? 0 : w.predicate(i.c);
  const auto combine = [&](Lanes x) {
    return i.number == 1 ? x & c : i.number == 2 ? x | c : i.number == 3 ? x ^ c : x;
  };
  w.store_predicate(i.d, combine(result), active);
  if (i.size != 0) w.store_predicate(i.e, combine(~result), active);
  return Flow::next;
}

/// Executes a setp on registers of type T. `F`: the comparison.
template <class T, class F>
Flow run_setp(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<T>&a = w.lanes<T>(i.a), &b = w.lanes<T>(i.b);
  Lanes result = 0;
  for (std::size_t l = 0; l < warp_lanes; ++l) result |= Lanes{F{}(a[l], b[l])} << l;
  return set_predicates(w, i, result, active);
}

/// Binds the operands of a setp on registers with `bits` bits, for set_predicates().
inline void bind_comparison(Binder& b, int bits) {
  const bool combined = b.has("and") || b.has("or") || b.has("xor");
  b.expect_operands(combined ? 4 : 3, combined ? 4 : 3);
  const Operand& d = b.operand(0);
  const bool both = d.kind == Operand::Kind::alternatives;
  b.to().d = b.write(both ? d.parts[0] : d, 1);
  if (both) b.to().e = b.write(d.parts[1], 1), b.to().size = 1;
  b.to().a = b.read(1, bits), b.to().b = b.read(2, bits);
  if (combined) b.to().c = b.read(3, 1);
  b.to().number = b.has("and") ? 1 : b.has("or") ? 2 : b.has("xor") ? 3 : 0;
}

}  // namespace deplo::measure::ptx
