#include "rules/rule.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace deplo::rules {
namespace {

bool is_of(const Value& value, KnobType type) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (type == KnobType::text) return integer == nullptr;
  return integer != nullptr && (type == KnobType::integer || *integer == 0 || *integer == 1);
}

}  // namespace

bool names_knob(std::string_view pattern, std::string_view knob) {
  if (!pattern.ends_with('*')) return knob == pattern;
  return knob.starts_with(pattern.substr(0, pattern.size() - 1));
}

Fork on_off_fork(std::string knob, bool first) {
  return {std::move(knob), {Value{std::int64_t{first}}, Value{std::int64_t{!first}}}};
}

template <typename T>
const T* Pins::find(std::string_view knob) const {
  const auto choice = std::ranges::find(choices_, knob, &Choice::knob);
  if (choice == choices_.end()) return nullptr;
  CHECK(std::holds_alternative<T>(choice->value));
  return std::get_if<T>(&choice->value);
}

std::optional<std::int64_t> Pins::integer(std::string_view knob) const {
  const auto* value = find<std::int64_t>(knob);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::string> Pins::text(std::string_view knob) const {
  const auto* value = find<std::string>(knob);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<bool> Pins::on_off(std::string_view knob) const {
  const auto* value = find<std::int64_t>(knob);
  return value == nullptr ? std::nullopt : std::optional(*value == 1);
}

const Knob* find_knob(const Rule& rule, std::string_view name) {
  const auto found = std::ranges::find_if(rule.knobs, [&](const Knob& knob) { return names_knob(knob.name, name); });
  return found == rule.knobs.end() ? nullptr : &*found;
}

bool declares(const Rule& rule, const Fork& fork) {
  const Knob* knob = find_knob(rule, fork.knob);
  return knob != nullptr &&
         std::ranges::all_of(fork.options, [&](const Value& value) { return is_of(value, knob->type); });
}

}  // namespace deplo::rules
