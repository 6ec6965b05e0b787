#include "rules/fusion/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace deplo::rules::fusion {

std::string decision_name(std::string_view kind, const std::string& tensor) {
  return fmt::format("{}.{}_{}", decision_group, kind, tensor);
}

Decisions::Decisions(const Trail& taken, const Trail& fixed) : taken_(taken), fixed_(fixed) {}

std::optional<deplo::Value> Decisions::fixed(std::string_view kind) const {
  const auto found = std::ranges::find(fixed_, kind, &Choice::knob);
  return found == fixed_.end() ? std::nullopt : std::optional(found->value);
}

std::optional<deplo::Value> Decisions::chosen(const Fork& fork) {
  const auto found = std::ranges::find(taken_, fork.knob, &Choice::knob);
  if (found == taken_.end()) return std::nullopt;
  if (std::ranges::count(fork.options, found->value) > 0) return found->value;
  std::string options;
  for (const deplo::Value& option : fork.options) options += (options.empty() ? "" : ", ") + print(option);
  illegal_ = fmt::format("{} is not legal here; expected one of {}", print(Trail{*found}), options);
  return std::nullopt;
}

deplo::Value Decisions::take(std::string_view kind, const std::string& tensor, std::vector<deplo::Value> options) {
  CHECK(!options.empty());
  Fork fork{decision_name(kind, tensor), std::move(options)};
  deplo::Value value = chosen(fork).value_or(fork.options[0]);
  const auto known = std::ranges::find(forks_, fork.knob, &Fork::knob);
  if (known != forks_.end()) {
    trail_[static_cast<std::size_t>(known - forks_.begin())].value = value;
    *known = std::move(fork);
  } else {
    trail_.push_back({fork.knob, value});
    forks_.push_back(std::move(fork));
  }
  return value;
}

std::string Decisions::fault() const {
  if (!illegal_.empty()) return illegal_;
  for (const Choice& choice : taken_)
    if (std::ranges::find(forks_, choice.knob, &Fork::knob) == forks_.end())
      return fmt::format("{} is left over: this graph has no such decision", print(Trail{choice}));
  return "";
}

}  // namespace deplo::rules::fusion
