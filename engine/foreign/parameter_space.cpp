#include "engine/foreign/parameter_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/indices.h"
#include "core/mapped.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "engine/foreign/solver.h"

namespace deplo::engine::foreign {
namespace {

/// Returns the groups of parameters that conditions connect. The parameters of each group are in the file's order.
std::vector<std::vector<std::size_t>> connected(std::size_t count, const std::vector<Condition>& conditions) {
  std::vector<std::size_t> parent = indices(count);
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Condition& condition : conditions)
    for (const std::size_t parameter : condition.parameters) {
      const std::size_t a = root(parameter), b = root(condition.parameters.front());
      parent[std::max(a, b)] = std::min(a, b);
    }
  std::vector<std::vector<std::size_t>> groups(count);
  for (std::size_t i = 0; i < count; ++i) groups[root(i)].push_back(i);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

/// A node of the tree: the rows of one group that agree with the choices so far.
class ParameterPosition final : public search::Position {
 public:
  ParameterPosition(const ParameterSpace& space, std::size_t group, std::size_t depth, std::size_t first,
                    std::size_t end, Trail trail)
      : space_(space), group_(group), depth_(depth), trail_(std::move(trail)) {
    if (group_ < space_.groups().size()) find_options(first, end);
  }

  const std::optional<Fork>& fork() const override { return fork_; }
  const Trail& trail() const override { return trail_; }
  double leaves(std::size_t option) const override {
    return static_cast<double>(ends_[option] - begins_[option]) * later_;
  }

  search::PositionPtr choose(std::size_t option) const override {
    CHECK(fork_ && option < fork_->options.size());
    Trail longer = trail_;
    longer.push_back({fork_->knob, fork_->options[option]});
    if (depth_ + 1 < group().parameters.size())
      return std::make_shared<ParameterPosition>(space_, group_, depth_ + 1, begins_[option], ends_[option],
                                                 std::move(longer));
    const std::size_t next = group_ + 1;
    const std::size_t rows = next < space_.groups().size() ? space_.groups()[next].size() : 0;
    return std::make_shared<ParameterPosition>(space_, next, 0, 0, rows, std::move(longer));
  }

 private:
  const ParameterSpace::Group& group() const { return space_.groups()[group_]; }

  void find_options(std::size_t first, std::size_t end) {
    const std::size_t number = group().parameters[depth_], width = group().parameters.size();
    const Parameter& parameter = space_.parameters()[number];
    fork_ = Fork{parameter.name, {}};
    const auto at = [&](std::size_t row) { return group().rows[row * width + depth_]; };
    while (first < end) {
      const std::uint16_t option = at(first);
      // Rows are sorted, so bisection finds the first row with another option.
      std::size_t low = first, high = end;
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        at(middle) <= option ? low = middle + 1 : high = middle;
      }
      const bool fallback = option == parameter.fallback;  // the default comes first
      const auto place = static_cast<std::ptrdiff_t>(fallback ? 0 : begins_.size());
      fork_->options.insert(fork_->options.begin() + place, value_of(parameter.values[option]));
      begins_.insert(begins_.begin() + place, first);
      ends_.insert(ends_.begin() + place, low);
      first = low;
    }
    for (std::size_t later = group_ + 1; later < space_.groups().size(); ++later)
      later_ *= static_cast<double>(space_.groups()[later].size());
  }

  const ParameterSpace& space_;
  std::size_t group_, depth_;
  Trail trail_;
  std::optional<Fork> fork_;
  std::vector<std::size_t> begins_, ends_;  // the range of rows below each option
  double later_ = 1;                        // number of configurations of all later groups
};

}  // namespace

Value value_of(const Scalar& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* number = std::get_if<double>(&value)) return parse_value(fmt::format("{}", *number));
  return parse_value(trail_word(std::get<std::string>(value)));
}

Trail parse_configuration(std::string_view text, std::string_view place) {
  std::string words(text);
  std::ranges::replace(words, '\n', ' ');
  for (std::size_t comma = words.find(','); comma != std::string::npos; comma = words.find(',', comma + 1)) {
    const std::string_view next = std::string_view(words).substr(comma + 1);
    const std::size_t end = next.find_first_of(",=");
    if (end != std::string::npos && next[end] == '=' && !next.starts_with('-')) words[comma] = ' ';
  }
  for (std::size_t sign = words.find('='); sign != std::string::npos; sign = words.find('=', sign + 1))
    if (sign + 1 == words.size() || words[sign + 1] == ' ') words.insert(sign + 1, "%");  // as in value_of()
  try {
    return parse_trail(words);
  } catch (const Error&) {
    throw Error(fmt::format("{}: expected NAME=VALUE,…, found '{}'", place, text));
  }
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters, const std::vector<Expression>& constraints,
                               const std::string& place)
    : parameters_(std::move(parameters)), constraints_(constraints) {
  const std::vector<std::string> names = mapped(parameters_, &Parameter::name);
  std::vector<Condition> conditions;
  for (const Expression& constraint : constraints_) {
    for (const std::string& name : constraint.names())
      if (std::ranges::find(names, name) == names.end())
        throw Error(fmt::format("{}: expected a parameter, found '{}' in the constraint '{}'{}", constraint.place(),
                                name, constraint.text(), did_you_mean(name, names)));
    if (!constraint.names().empty())
      std::ranges::move(conditions_of(constraint, parameters_), std::back_inserter(conditions));
    else if (!is_true(constraint.scalar({})))
      throw Error(
          fmt::format("{}: no configuration is legal: '{}' is never true", constraint.place(), constraint.text()));
  }
  for (std::vector<std::size_t>& group : connected(parameters_.size(), conditions)) {
    std::vector<const Condition*> own;
    for (const Condition& condition : conditions)
      if (std::ranges::count(group, condition.parameters.front()) > 0) own.push_back(&condition);
    groups_.push_back({group, solve(parameters_, group, own, place)});
    if (!groups_.back().rows.empty()) continue;
    const std::string dependent = join(group, ", ", [&](std::size_t i) { return parameters_[i].name; });
    throw Error(fmt::format("{}: no configuration is legal: the constraints leave no values for {}", place, dependent));
  }
}

search::PositionPtr ParameterSpace::root() const {
  return std::make_shared<ParameterPosition>(*this, 0, 0, 0, groups_.empty() ? 0 : groups_.front().size(), Trail{});
}

std::vector<search::KnobInfo> ParameterSpace::knobs() const {
  std::vector<search::KnobInfo> knobs;
  for (const Parameter& parameter : parameters_) {
    search::KnobInfo knob{parameter.name, {}, "", parameter.meaning};
    for (const Scalar& value : parameter.values) knob.options.push_back(value_of(value));
    knob.kind = search::kind_of(knob.options);
    knobs.push_back(std::move(knob));
  }
  return knobs;
}

namespace {

/// Follows the choices from the root. Returns a leaf, or the first position whose fork does not offer its knob's
/// choice.
search::PositionPtr follow(const search::Space& space, const Trail& choices) {
  search::PositionPtr at = space.root();
  while (at->fork()) {
    const auto choice = std::ranges::find(choices, at->fork()->knob, &Choice::knob);
    const auto option = choice == choices.end() ? std::nullopt : search::option_of(*at->fork(), *choice);
    if (!option) break;
    at = at->choose(*option);
  }
  return at;
}

}  // namespace

search::PositionPtr ParameterSpace::find(const Trail& trail) const {
  if (trail.size() != parameters_.size()) return nullptr;
  search::PositionPtr at = follow(*this, trail);
  return at->fork() ? nullptr : at;
}

const Parameter& ParameterSpace::named(const std::string& name, std::string_view place) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  if (found != parameters_.end()) return *found;
  const std::vector<std::string> names = mapped(parameters_, &Parameter::name);
  throw Error(fmt::format("{}: expected a parameter ({}), found '{}'{}", place, cut(join(names, ", "), 200), name,
                          did_you_mean(name, names)));
}

/// Checks the constraints whose parameters all have values here. Returns the first constraint that is false, or else
/// the first that cannot be evaluated, or "" if all are true.
std::string ParameterSpace::violated(const Trail& values) const {
  std::string failing;
  for (const Expression& constraint : constraints_) {
    std::vector<Operand> operands;
    for (const std::string& name : constraint.names())
      if (const auto choice = std::ranges::find(values, name, &Choice::knob); choice != values.end())
        operands.emplace_back(*std::ranges::find(named(name, "").values, choice->value, value_of));
    if (operands.size() < constraint.names().size()) continue;
    try {
      if (!is_true(constraint.scalar(operands))) return constraint.text();
    } catch (const Error&) {
      if (failing.empty()) failing = constraint.text();
    }
  }
  return failing;
}

/// Checks that each parameter occurs once, with one of its values.
void ParameterSpace::check(const Trail& values, std::string_view place) const {
  for (auto choice = values.begin(); choice != values.end(); ++choice) {
    const Parameter& parameter = named(choice->knob, place);
    if (std::ranges::count(values, choice->knob, &Choice::knob) > 1)
      throw Error(fmt::format("{}: expected each parameter once, found {} again", place, choice->knob));
    std::vector<std::string> options;
    for (const Scalar& value : parameter.values) options.push_back(deplo::print(value_of(value)));
    if (std::ranges::find(parameter.values, choice->value, value_of) == parameter.values.end())
      throw Error(fmt::format("{}: expected a value of {} ({}), found '{}'", place, parameter.name,
                              cut(join(options, ", "), 200), deplo::print(choice->value)));
  }
}

Trail ParameterSpace::with_defaults(const Trail& values) const {
  Trail all;
  for (const Parameter& parameter : parameters_) {
    const auto choice = std::ranges::find(values, parameter.name, &Choice::knob);
    all.push_back(
        {parameter.name, choice == values.end() ? value_of(parameter.values[parameter.fallback]) : choice->value});
  }
  return all;
}

namespace {

/// Returns the first row with these options (nullopt: any option), or nullopt if there is none. The order is that of
/// the tree's forks, in which the default comes first.
std::optional<std::size_t> first_row(const ParameterSpace::Group& group, const std::vector<Parameter>& parameters,
                                     const std::vector<std::optional<std::uint16_t>>& wanted) {
  const std::size_t width = group.parameters.size();
  const auto option = [&](std::size_t row, std::size_t column) { return group.rows[row * width + column]; };
  const auto has_options = [&](std::size_t row) {
    for (std::size_t column = 0; column < width; ++column)
      if (wanted[column].value_or(option(row, column)) != option(row, column)) return false;
    return true;
  };
  const auto is_before = [&](std::size_t a, std::size_t b) {
    for (std::size_t column = 0; column < width; ++column) {
      if (option(a, column) == option(b, column)) continue;
      const std::size_t fallback = parameters[group.parameters[column]].fallback;
      if (option(a, column) == fallback || option(b, column) == fallback) return option(a, column) == fallback;
      return option(a, column) < option(b, column);
    }
    return false;
  };
  std::optional<std::size_t> first;
  for (std::size_t row = 0; row < group.size(); ++row)
    if (has_options(row) && (!first || is_before(row, *first))) first = row;
  return first;
}

}  // namespace

search::PositionPtr ParameterSpace::candidate(const Trail& values, std::string_view place) const {
  check(values, place);
  if (search::PositionPtr at = find(with_defaults(values))) return at;
  Trail nearest;
  for (const Group& group : groups_) {
    std::vector<std::optional<std::uint16_t>> wanted;
    for (const std::size_t number : group.parameters) {
      const Parameter& parameter = parameters_[number];
      const auto choice = std::ranges::find(values, parameter.name, &Choice::knob);
      wanted.emplace_back();
      if (choice == values.end()) continue;
      const auto value = std::ranges::find(parameter.values, choice->value, value_of);
      wanted.back() = static_cast<std::uint16_t>(value - parameter.values.begin());
    }
    const std::optional<std::size_t> row = first_row(group, parameters_, wanted);
    if (!row) {
      const std::string constraint = violated(values);
      throw Error(fmt::format("{}: expected a legal configuration, found {}: {}", place, deplo::print(values),
                              constraint.empty() ? "no values of the other parameters make it legal"
                                                 : fmt::format("'{}' is not true", constraint)));
    }
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const Parameter& parameter = parameters_[group.parameters[i]];
      nearest.push_back({parameter.name, value_of(parameter.values[group.rows[*row * wanted.size() + i]])});
    }
  }
  return follow(*this, nearest);
}

std::string ParameterSpace::replaced_defaults(const Trail& values, std::string_view place) const {
  const Trail wanted = with_defaults(values), found = candidate(values, place)->trail();
  std::vector<std::string> replaced;
  for (const Choice& choice : found)
    if (const auto same = std::ranges::find(wanted, choice.knob, &Choice::knob); same->value != choice.value)
      replaced.push_back(
          fmt::format("{}={} instead of {}", choice.knob, deplo::print(choice.value), deplo::print(same->value)));
  if (replaced.empty()) return "";
  return fmt::format("the defaults are not legal ('{}' is not true): {}", violated(wanted), join(replaced, ", "));
}

std::vector<std::string> ParameterSpace::notes() const {
  std::vector<std::string> notes;
  if (std::string replaced = replaced_defaults({}, ""); !replaced.empty()) notes.push_back(std::move(replaced));
  for (const Expression& constraint : constraints_)
    if (constraint.divides_in_c())
      notes.push_back(
          fmt::format("'{}': / gives a fraction, as in Python; // rounds down, as / does in C", constraint.text()));
  return notes;
}

double ParameterSpace::legal() const {
  double product = 1;
  for (const Group& group : groups_) product *= static_cast<double>(group.size());
  return product;
}

double ParameterSpace::raw() const {
  double product = 1;
  for (const Parameter& parameter : parameters_) product *= static_cast<double>(parameter.values.size());
  return product;
}

std::vector<Scalar> ParameterSpace::configuration(const search::Position& candidate) const {
  CHECK(!candidate.fork());
  std::vector<Scalar> values;
  for (const Parameter& parameter : parameters_) {
    const auto choice = std::ranges::find(candidate.trail(), parameter.name, &Choice::knob);
    CHECK(choice != candidate.trail().end());
    const auto value = std::ranges::find(parameter.values, choice->value, value_of);
    CHECK(value != parameter.values.end());
    values.push_back(*value);
  }
  return values;
}

}  // namespace deplo::engine::foreign
