#include "engine/source/restrict.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/file.h"
#include "core/indices.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "engine/source/experiment.h"
#include "rules/blocks/decisions.h"
#include "rules/fusion/decisions.h"
#include "rules/rule.h"

namespace deplo::engine {
namespace {

constexpr std::string_view heuristic = "heuristic", none = "none", folder = "configs/restrictions";

/// Returns the restriction that counts for the knob, or nullptr if there is none.
const Restriction* restriction_of(std::string_view knob, const Restrictions& restrictions) {
  const auto found = std::find_if(restrictions.rbegin(), restrictions.rend(), [&](const Restriction& restriction) {
    return rules::names_knob(restriction.knob, knob);
  });
  return found == restrictions.rend() ? nullptr : &*found;
}

// Knobs of schedules are named after a kernel's axes and buffers, so only the name of the rule can be checked in
// advance. A name without a dot is a parameter of a kernel file (check_parameters()).
void check_knob(const std::string& knob, std::string_view place) {
  const std::size_t dot = knob.find('.');
  const std::size_t star = knob.find('*');
  if (knob.empty() || dot + 1 == knob.size() || (star != std::string::npos && star + 1 < knob.size()))
    throw Error(fmt::format(
        "{}: expected a knob (RULE.NAME), or the beginning of a knob followed by *, such as mark_unroll.*, found '{}'",
        place, knob));
  if (dot == std::string::npos) return;
  std::vector<std::string> names;
  for (const rules::Rule* rule : rules::pipeline()) names.emplace_back(rule->name);
  names.emplace_back(rules::fusion::decision_group);
  for (const std::string_view group : rules::groups_of_block_knobs) names.emplace_back(group);
  const std::string rule = knob.substr(0, dot);
  if (std::ranges::find(names, rule) == names.end())
    throw Error(fmt::format("{}: expected the name of a rule before the dot, found '{}'{}", place, knob,
                            did_you_mean(rule, names)));
}

}  // namespace

Fork with_options(const Fork& whole, const std::vector<std::size_t>& options) {
  Fork fork{whole.knob, {}};
  for (const std::size_t option : options) fork.options.push_back(whole.options[option]);
  return fork;
}

std::vector<std::size_t> allowed_options(const Fork& fork, const Restrictions& restrictions) {
  std::vector<std::size_t> all = indices(fork.options.size());
  const Restriction* const found = restriction_of(fork.knob, restrictions);
  if (found == nullptr) return all;
  const auto named = [&](const Value& value) { return std::ranges::count(found->values, value) > 0; };
  std::erase_if(
      all, [&](std::size_t i) { return !named(fork.options[i]) && !(i == 0 && named(Value(std::string(heuristic)))); });
  return all.empty() ? std::vector<std::size_t>{0} : all;
}

bool allows(const Restrictions& restrictions, const Trail& changes) {
  return std::ranges::all_of(changes, [&](const Choice& change) {
    const Restriction* const found = restriction_of(change.knob, restrictions);
    return found == nullptr || std::ranges::count(found->values, change.value) > 0;
  });
}

bool is_of_kernel_file(const Restriction& restriction) { return restriction.knob.find('.') == std::string::npos; }

bool restricts(const Restriction& restriction, std::span<const search::KnobInfo> knobs) {
  return std::ranges::any_of(knobs, [&](const search::KnobInfo& knob) {
    const auto offered = [&](const Value& value) {
      return value == Value(std::string(heuristic)) || std::ranges::count(knob.options, value) > 0;
    };
    return rules::names_knob(restriction.knob, knob.name) && std::ranges::any_of(restriction.values, offered);
  });
}

Restrictions read_restrictions(const Config& config) {
  Restrictions restrictions;
  for (const auto& [knob, list] : config.entries()) {
    check_knob(knob, list.place());
    Restriction& restriction = restrictions.emplace_back(Restriction{knob, {}, list.place()});
    for (const Config& value : list.items()) restriction.values.push_back(parse_value(value.text()));
    if (restriction.values.empty()) list.expected("at least one value of " + knob);
  }
  return restrictions;
}

Restriction parse_restriction(const std::string& text, std::string_view place) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw Error(fmt::format("{}: expected KNOB=VALUE,VALUE,…, found '{}'", place, text));
  Restriction restriction{text.substr(0, equals), {}, std::string(place)};
  check_knob(restriction.knob, place);
  for (std::size_t start = equals + 1; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    // A parameter of a kernel file may have an empty text as a value. A rule's knob has none, so it is a mistake there.
    if (end == start && !is_of_kernel_file(restriction))
      throw Error(fmt::format("{}: expected a value after = and after each comma, found none in '{}'", place, text));
    restriction.values.push_back(parse_value(text.substr(start, end - start)));
    start = end + 1;
  }
  return restriction;
}

void check_restrictions(const std::string& name, std::string_view place) {
  std::vector<std::string> names = list_data(folder, ".yaml");
  names.insert(names.begin(), std::string(none));
  check_name(place, "KNOB=VALUE,VALUE,… or restrictions", name, names);
}

Restrictions load_restrictions(const std::string& name, std::string_view place) {
  check_restrictions(name, place);
  if (name == none) return {};
  return read_restrictions(Config::load(data_folder() / folder / (name + ".yaml")));
}

std::string_view default_restrictions(const Target& target) { return target.cpu ? none : "gpu"; }

Restrictions joined(Restrictions first, const Restrictions& last) {
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

std::string describe(const Restrictions& restrictions) {
  const auto print_value = [](const Value& value) { return deplo::print(value); };
  return join(restrictions, " ", [&](const Restriction& restriction) {
    return fmt::format("{}={}", restriction.knob, join(restriction.values, ",", print_value));
  });
}

}  // namespace deplo::engine
