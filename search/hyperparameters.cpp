#include "search/hyperparameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/number.h"
#include "core/text/text.h"

namespace deplo::search {
namespace {

std::string legal(const Hyperparameter& parameter) {
  switch (parameter.type) {
    case Hyperparameter::Type::word:
      return fmt::format("one of {}", join(grid(parameter), ", "));
    case Hyperparameter::Type::integer:
      return fmt::format("an integer between {:.10g} and {:.10g}", parameter.min, parameter.max);
    case Hyperparameter::Type::number:
      return fmt::format("a number between {:.10g} and {:.10g}", parameter.min, parameter.max);
  }
  check_failed("a known type", __FILE__, __LINE__);
}

bool may_be(const Hyperparameter& parameter, const std::string& text) {
  if (parameter.type == Hyperparameter::Type::word) return std::ranges::count(grid(parameter), text) > 0;
  const bool whole = parameter.type == Hyperparameter::Type::integer;
  if (whole && !parse_number<std::int64_t>(text)) return false;
  const std::optional<double> value = parse_number<double>(text);
  return value && *value >= parameter.min && *value <= parameter.max;  // a NaN is in no range
}

}  // namespace

std::vector<std::string> grid(const Hyperparameter& parameter) {
  std::istringstream in{std::string(parameter.grid)};
  std::vector<std::string> values;
  for (std::string value; in >> value;) values.push_back(value);
  return values;
}

std::string print(const Hyperparameter& parameter) {
  return fmt::format("{}={}: {} ({})", parameter.name, parameter.fallback, parameter.doc, legal(parameter));
}

void check_hyperparameter(std::string_view searcher, std::span<const Hyperparameter> parameters, std::string_view name,
                          const std::string& value, std::string_view place) {
  const auto found = std::ranges::find(parameters, name, &Hyperparameter::name);
  if (found == parameters.end()) {
    std::vector<std::string> names;
    for (const Hyperparameter& parameter : parameters) names.emplace_back(parameter.name);
    const std::string known = names.empty() ? "it has none" : join(names, ", ");
    throw Error(fmt::format("{}: expected a hyperparameter of {} ({}), found '{}'{}", place, searcher, known, name,
                            did_you_mean(name, names)));
  }
  if (!may_be(*found, value))
    throw Error(fmt::format("{}: {}: expected {}, found '{}'", place, name, legal(*found), value));
}

Settings::Settings(std::string_view searcher, std::span<const Hyperparameter> parameters, const SearchOptions& options)
    : seed_(options.seed), trials_(options.about.trials), values_(options.parameters) {
  for (const auto& [name, value] : values_) check_hyperparameter(searcher, parameters, name, value, "search");
  for (const Hyperparameter& parameter : parameters)
    values_.try_emplace(std::string(parameter.name), parameter.fallback);
}

const std::string& Settings::word(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second;
}

double Settings::number(std::string_view name) const {
  const std::optional<double> value = parse_number<double>(word(name));
  CHECK(value);
  return *value;
}

std::size_t Settings::integer(std::string_view name) const {
  const std::optional<std::int64_t> value = parse_number<std::int64_t>(word(name));
  CHECK(value && *value >= 0);
  return static_cast<std::size_t>(*value);
}

}  // namespace deplo::search
