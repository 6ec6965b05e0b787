#include "search/records/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::search {
namespace {

// Parts of names. Rates and ratios take precedence over amounts, because "GFLOP/J" has both.
constexpr std::array<std::string_view, 14> higher = {"/s",          "/w",      "/j",       "flops",    "throughput",
                                                     "bandwidth",   "speedup", "speed_up", "fitness",  "efficiency",
                                                     "utilization", "gflop",   "tflop",    "occupancy"};
constexpr std::array<std::string_view, 17> lower = {
    "time",  "duration", "latency", "energy",  "power",     "cost",      "loss",   "error",        "cycles",
    "joule", "watt",     "delay",   "elapsed", "code_size", "registers", "spills", "shared_memory"};

}  // namespace

std::string label(const Objective& objective) {
  if (objective.duration) return objective.name;
  return fmt::format("{}{}, {} is better", objective.name,
                     objective.unit.empty() ? "" : fmt::format(" ({})", objective.unit),
                     objective.higher_is_better ? "higher" : "lower");
}

ObjectiveChoice parse_objective(std::string_view text) {
  ObjectiveChoice choice{std::string(text), {}};
  for (const auto& [ending, higher_is_better] : {std::pair(std::string_view(":min"), false), {":max", true}})
    if (text.ends_with(ending)) choice = {std::string(text.substr(0, text.size() - ending.size())), higher_is_better};
  if (choice.name.empty())
    throw Error(fmt::format("--objective: expected NAME, NAME:min or NAME:max, found '{}'", text));
  return choice;
}

std::optional<bool> known_direction(std::string_view name) {
  const std::string word = lower_case(name);
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (std::ranges::any_of(higher, has)) return true;
  if (std::ranges::any_of(lower, has)) return false;
  return std::nullopt;
}

std::optional<double> microseconds_in(std::string_view unit) {
  const std::string word = lower_case(unit);
  if (word == "s" || word == "sec" || word == "second" || word == "seconds") return 1e6;
  // The T4 files of the Benchmark Hub have the spelling "miliseconds".
  if (word == "ms" || word.starts_with("millisec") || word.starts_with("milisec")) return 1e3;
  if (word == "us" || word == "µs" || word == "μs" || word.starts_with("microsec")) return 1;
  if (word == "ns" || word.starts_with("nanosec")) return 1e-3;
  return std::nullopt;
}

}  // namespace deplo::search
