// How hard a recorded space is, which of its knobs matter, and orders of its levels.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/compare/landscape.h"

namespace deplo::search::compare {

struct Difficulty {
  std::size_t configurations = 0, valid = 0;
  double within1 = 0, within5 = 0, within10 = 0;  // share of the valid ones within so many percent of the optimum
  std::int64_t evaluations = 0;                   // M*(0.95)
  double neighbours =
      0;  // Pearson correlation of the logarithms of the times of configurations that differ in one knob
};

/// Neighbours: all of up to 20,000 drawn configurations.
Difficulty difficulty(const TableSpace&, const Landscape&, std::uint64_t seed);

/// The share of the variance of log time that the means of a knob's values explain (correlation ratio, eta squared):
/// main effects only. Over the valid records; 0 where times do not vary.
std::vector<double> importance(const Records&);

enum class Order { recorded, importance, reversed, shuffled };
/// Throws Error that lists the names.
Order parse_order(std::string_view name);
std::vector<std::string> order_names();
std::string_view name(Order);
/// For TableSpace. importance: the most important knob first, as recorded where equal.
std::vector<std::size_t> level_order(const Records&, Order, std::uint64_t seed);

}  // namespace deplo::search::compare
