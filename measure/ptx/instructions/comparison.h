// Comparisons of two operands, lane by lane (PTX ISA, "setp").
#pragma once
#include <cmath>
#include <functional>
#include <string_view>
#include <type_traits>

#include "measure/ptx/decode.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

/// Compares two values. `of_nan`: the result if an operand is NaN.
template <class Compare, bool of_nan>
struct Related {
  template <class T>
  bool operator()(T a, T b) const {
    return is_nan(a) || is_nan(b) ? of_nan : Compare{}(a, b);
  }
};
template <bool result>
struct Always {
  template <class T>
  bool operator()(T, T) const {
    return result;
  }
};

/// Returns use.operator()<F>(), in which F is the Related for the word of a comparison, such as "lt", "ltu" or "lo".
template <class T, class Use>
Meaning with_relation(std::string_view word, const Use& use) {
  if (word == "num") return use.template operator()<Related<Always<true>, false>>();
  if (word == "nan") return use.template operator()<Related<Always<false>, true>>();
  const bool unordered = std::is_floating_point_v<T> && word.size() == 3;
  const std::string_view name = unordered ? word.substr(0, 2) : word;
  const auto make = [&]<class Compare>(Compare) -> Meaning {
    if constexpr (std::is_floating_point_v<T>)
      if (unordered) return use.template operator()<Related<Compare, true>>();
    return use.template operator()<Related<Compare, false>>();
  };
  if (name == "eq") return make(std::equal_to());
  if (name == "ne") return make(std::not_equal_to());
  if (name == "lt" || name == "lo") return make(std::less());
  if (name == "le" || name == "ls") return make(std::less_equal());
  if (name == "gt" || name == "hi") return make(std::greater());
  return make(std::greater_equal());
}

/// Writes the result predicates of a setp. `result`: the lanes in which the comparison is true. Instruction::number: 0:
/// the comparison alone; 1, 2, 3: the comparison combined with predicate c by and, or, xor. If `size` is not 0,
/// Instruction::e gets the result for the negated comparison.
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
  return set_predicates(w, i, lanes_where([&](std::size_t l) { return F{}(a[l], b[l]); }), active);
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
