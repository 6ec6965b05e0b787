// The registers of a warp.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "measure/ptx/finding.h"
#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// One value per lane.
template <class T>
using PerLane = std::array<T, warp_lanes>;

/// A type as an argument of a function.
template <class T>
struct Typed {};

/// Calls visit(Typed<T>()), in which T is the unsigned type of a register of 16, 32 or 64 bits.
template <class Visit>
void with_register(int bits, const Visit& visit) {
  if (bits == 16) return visit(Typed<std::uint16_t>());
  if (bits == 32) return visit(Typed<std::uint32_t>());
  return visit(Typed<std::uint64_t>());
}

/// Calls visit(lane) for each of the lanes, in ascending order.
template <class Visit>
void for_each_lane(Lanes lanes, const Visit& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::size_t>(std::countr_zero(lanes)));
}

/// Returns the values of f(lane) for all lanes.
template <class F>
auto per_lane(const F& f) {
  PerLane<std::invoke_result_t<const F&, std::size_t>> values;
  for (std::size_t l = 0; l < warp_lanes; ++l) values[l] = f(l);
  return values;
}

/// Returns the set of the lanes for which f(lane) is true.
template <class F>
Lanes lanes_where(const F& f) {
  Lanes lanes = 0;
  for (std::size_t l = 0; l < warp_lanes; ++l) lanes |= Lanes{f(l)} << l;
  return lanes;
}

class Registers {
 public:
  /// Allocates the registers of the program and sets its constants.
  explicit Registers(const Program&);

  template <class T>
  PerLane<T>& lanes(RegisterPlace place) {
    return *reinterpret_cast<PerLane<T>*>(registers_.data() + place / sizeof(std::uint64_t));
  }
  Lanes& predicate(RegisterPlace place) { return lanes<Lanes>(place)[0]; }
  /// Writes the values of the `active` lanes.
  template <class T>
  void store(RegisterPlace place, const PerLane<T>& values, Lanes active) {
    PerLane<T>& to = lanes<T>(place);
    if (active == all_lanes)
      to = values;
    else
      for_each_lane(active, [&](std::size_t l) { to[l] = values[l]; });
  }
  /// Writes the same value to the `active` lanes.
  template <class T>
  void store_in_all(RegisterPlace place, T value, Lanes active) {
    for_each_lane(active, [&](std::size_t l) { lanes<T>(place)[l] = value; });
  }
  void store_predicate(RegisterPlace place, Lanes values, Lanes active) {
    Lanes& to = predicate(place);
    to = (to & ~active) | (values & active);
  }
  // CC.CF, the carry-out or borrow-out of each lane (PTX ISA, "Extended-Precision Integer Arithmetic")
  Lanes carry = 0;

  /// Returns the value that an operand has in all active lanes. `what` names the operand. Throws Finding if the lanes
  /// differ.
  template <class T>
  T uniform(RegisterPlace place, Lanes active, const char* what) {
    const PerLane<T>& values = lanes<T>(place);
    const T first = values[static_cast<std::size_t>(std::countr_zero(active))];
    for_each_lane(active, [&](std::size_t l) {
      if (values[l] != first) throw Finding(std::string("the lanes of the warp have different values as ") + what, l);
    });
    return first;
  }

  /// The address that the instruction accesses in a lane: base register plus offset.
  std::uint64_t address(const Instruction& i, std::size_t lane) {
    const std::uint64_t base =
        i.size_of_address == 8 ? lanes<std::uint64_t>(i.a)[lane] : lanes<std::uint32_t>(i.a)[lane];
    const std::uint64_t sum = base + static_cast<std::uint64_t>(i.number);
    return i.size_of_address == 8 ? sum : sum & 0xffffffff;
  }

 private:
  std::vector<std::uint64_t> registers_;
};

}  // namespace deplo::measure::ptx
