// Describes a recorded space: how hard it is, which knobs matter, and possible orders of its levels.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/compare/landscape.h"

namespace deplo::search::compare {

struct Difficulty {
  std::size_t configurations = 0, valid = 0;
  // shares of the valid configurations within 1, 5 and 10 % of the optimum
  double within1 = 0, within5 = 0, within10 = 0;
  std::int64_t evaluations = 0;  // M*(0.95), see Landscape::evaluations()
  double neighbours = 0;         // Pearson correlation of the log times of configurations that differ in one knob
};

/// `neighbours` is computed from all neighbours of up to 20,000 drawn configurations.
Difficulty difficulty(const TableSpace&, const Landscape&, std::uint64_t seed);

/// For each knob, the share of the variance of log time that the means of its values explain (correlation ratio, eta
/// squared): main effects only. Uses the valid records; 0 if the times do not vary.
std::vector<double> importance(const Records&);

enum class Order { recorded, importance, reversed, shuffled };
/// Throws Error that lists the names if `name` is unknown.
Order parse_order(std::string_view name);
std::vector<std::string> order_names();
std::string_view name(Order);
/// An order of levels for TableSpace. Order::importance: the most important knob first; equally important knobs in
/// recorded order.
std::vector<std::size_t> level_order(const Records&, Order, std::uint64_t seed);

}  // namespace deplo::search::compare
