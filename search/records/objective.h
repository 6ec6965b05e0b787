// The objective of a recorded space: which quantity was measured, and which direction is better.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deplo::search {

/// The quantity that a search optimises.
struct Objective {
  std::string name = "time";
  std::string unit;               // unit of the values, only for display; "": the file gives none, or `duration`
  bool higher_is_better = false;  // always false for a duration
  bool duration = true;           // values are times, in µs

  bool operator==(const Objective&) const = default;
};

/// "GFLOP/s, higher is better"; "energy (J), lower is better"; for a duration, its name.
std::string label(const Objective&);

/// The objective that a user chooses. If it has no direction, the direction in the file is used, else
/// known_direction().
struct ObjectiveChoice {
  std::string name;
  std::optional<bool> higher_is_better;
};

/// Parses NAME, NAME:min or NAME:max. Throws Error if the name is empty.
ObjectiveChoice parse_objective(std::string_view text);

/// Guesses from the name whether higher is better, from Kernel Tuner's defaults, rates ("/s", "throughput") and amounts
/// ("energy", "time"). nullopt: the name does not tell.
std::optional<bool> known_direction(std::string_view name);

/// The number of µs in one unit: "s", "ms", "us", "µs", "ns", or their names in any case, such as "Microseconds".
/// nullopt: not a unit of time.
std::optional<double> microseconds_in(std::string_view unit);

}  // namespace deplo::search
