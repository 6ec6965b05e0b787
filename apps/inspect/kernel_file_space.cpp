#include "apps/inspect/kernel_file_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/rng.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "search/trails.h"

namespace deplo::apps {
namespace {

using engine::foreign::Parameter;
using engine::foreign::ParameterSpace;

/// Returns the parameter's values, the default first.
std::vector<Value> values_of(const Parameter& parameter) {
  std::vector<Value> values;
  for (const auto& value : parameter.values) values.push_back(engine::foreign::value_of(value));
  std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(parameter.fallback),
              values.begin() + static_cast<std::ptrdiff_t>(parameter.fallback) + 1);
  return values;
}

}  // namespace

std::string print_configurations(const engine::foreign::KernelFile& file) {
  const ParameterSpace& space = file.space();
  std::string text =
      fmt::format("{}: {:.10g} of {:.10g} configurations are legal\n", file.name(), space.legal(), space.raw());
  std::size_t names = 0;
  for (const Parameter& parameter : space.parameters()) names = std::max(names, columns(parameter.name));
  std::size_t dependent = 0;
  for (const auto& group : space.groups()) {
    if (group.parameters.size() > 1)
      text += fmt::format("\ngroup {}, {:.10g} configurations: parameters that share constraints\n", ++dependent,
                          static_cast<double>(group.size()));
    else
      text += "\n";
    for (const std::size_t number : group.parameters) {
      const Parameter& parameter = space.parameters()[number];
      std::vector<std::string> words;
      for (const Value& value : values_of(parameter)) words.push_back(print(value));
      text += fmt::format("  {:<{}}  {}{}\n", parameter.name, names, join(words, " "),
                          parameter.meaning.empty() ? "" : "  (" + parameter.meaning + ")");
    }
  }
  const std::vector<std::string> notes = file.notes();
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

std::string print_configurations_json(const engine::foreign::KernelFile& file) {
  const ParameterSpace& space = file.space();
  Json groups = Json::array();
  for (const auto& group : space.groups()) {
    Json parameters = Json::array();
    for (const std::size_t number : group.parameters) {
      const Parameter& parameter = space.parameters()[number];
      parameters.push_back(Json::object(
          {{"name", parameter.name}, {"options", Json::array(values_of(parameter))}, {"meaning", parameter.meaning}}));
    }
    groups.push_back(Json::object({{"configurations", group.size()}, {"parameters", std::move(parameters)}}));
  }
  return Json::object({{"kernel", file.name()},
                       {"legal", space.legal()},
                       {"configurations", space.raw()},
                       {"notes", Json::array(file.notes())},
                       {"groups", std::move(groups)}})
      .print_lines(2);
}

std::vector<search::PositionPtr> draw_configurations(const search::Space& space, double wanted, std::uint64_t seed) {
  constexpr std::size_t max_repeats = 1000;
  Rng rng(seed);
  std::set<std::string> drawn;
  std::vector<search::PositionPtr> found;
  for (std::size_t repeats = 0; static_cast<double>(found.size()) < wanted && repeats < max_repeats;) {
    search::PositionPtr candidate = search::random_candidate(space, rng);
    const bool fresh = drawn.insert(print(candidate->trail())).second;
    repeats = fresh ? 0 : repeats + 1;
    if (fresh) found.push_back(std::move(candidate));
  }
  return found;
}

std::string sample_configurations(const engine::foreign::KernelFile& file, std::size_t count, std::uint64_t seed) {
  const double wanted = std::min(static_cast<double>(count), file.space().legal());
  std::string text;
  for (const search::PositionPtr& candidate : draw_configurations(file.space(), wanted, seed))
    text += print(candidate->trail()) + "\n";
  return text;
}

}  // namespace deplo::apps
