#include "engine/tune/ties.h"

#include <algorithm>
#include <tuple>

#include "core/error.h"
#include "measure/protocol/protocol.h"

namespace deplo::engine {

std::int64_t changes(const Trail& trail, const Trail& heuristic) {
  return std::ranges::count_if(
      trail, [&](const Choice& choice) { return std::ranges::find(heuristic, choice) == heuristic.end(); });
}

double slowest_of_equals(double fastest) { return (1 + measure::Protocol().tie) * fastest; }

std::size_t winner(std::span<const Timed> times) {
  CHECK(!times.empty());
  const double fastest = std::ranges::min_element(times, {}, &Timed::microseconds)->microseconds;
  const auto rank = [&](const Timed& timed) {
    return std::tuple(timed.microseconds > slowest_of_equals(fastest), timed.changes, timed.trail);
  };
  return static_cast<std::size_t>(std::ranges::min_element(times, {}, rank) - times.begin());
}

}  // namespace deplo::engine
