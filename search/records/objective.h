// What was measured of the configurations of a recorded space, and which direction is better.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deplo::search {

/// The quantity that a space is searched for.
struct Objective {
  std::string name = "time";
  std::string unit;               // of the values, for people; "": the file gives none, or `duration`
  bool higher_is_better = false;  // never of a duration
  bool duration = true;           // values are times, in µs

  bool operator==(const Objective&) const = default;
};

/// "GFLOP/s, higher is better"; "energy (J), lower is better"; of a duration its name.
std::string label(const Objective&);

/// The objective that a user chooses. Without a direction the file's counts, else known_direction().
struct ObjectiveChoice {
  std::string name;
  std::optional<bool> higher_is_better;
};

/// NAME, NAME:min or NAME:max. Throws Error where the name is empty.
ObjectiveChoice parse_objective(std::string_view text);

/// Whether higher is better, by the name: Kernel Tuner's defaults, rates ("/s", "throughput") and amounts ("energy",
/// "time"). nullopt: the name does not tell.
std::optional<bool> known_direction(std::string_view name);

/// µs in one of the unit: "s", "ms", "us", "µs", "ns", or their names in any case, such as "Microseconds"; nullopt: it
/// is no unit of time.
std::optional<double> microseconds_in(std::string_view unit);

}  // namespace deplo::search
