#include "apps/cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "apps/cli/help.h"
#include "core/text/number.h"

namespace deplo::apps {
namespace {

// Replaces CLI11's own range check, which accepts NaN in every range and prints bounds as 0.000000.
template <class Number>
CLI::Validator in_range(Number min, Number max) {
  const auto check = [min, max](const std::string& text) -> std::string {
    const std::optional<Number> value = parse_number<Number>(text);
    if (value && *value >= min && *value <= max) return "";  // a NaN is in no range
    const char* const kind = std::is_integral_v<Number> ? "an integer" : "a number";
    return fmt::format("expected {} between {} and {}, found '{}'", kind, min, max, text);
  };
  return CLI::Validator(check, "");
}

/// Returns what a value of the type names, such as "a file", if no empty value names one; "" for other types.
std::string_view named_by(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"FILE", "a file"},   {"FILE [FILE]", "a file"}, {"FOLDER", "a folder"}, {"FOLDER|FILE", "a folder or a file"},
      {"STORE", "a store"}, {"LEVEL", "a level"},      {"TARGET", "a target"}, {"X,Y,Z", "extents such as 64,2"},
  };
  const auto* const found = std::ranges::find(kinds, type, [](const auto& kind) { return kind.first; });
  return found == std::end(kinds) ? "" : found->second;
}

// An empty value is what `-o "$OUT"` passes if OUT is not set. To a command, it would look like a flag that was not
// given, so the command would write nothing, or use a default.
CLI::Validator not_empty(std::string_view kind) {
  return CLI::Validator(
      [kind](const std::string& text) { return text.empty() ? fmt::format("expected {}, found ''", kind) : ""; }, "");
}

}  // namespace

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

template <one_of<std::int64_t, std::uint64_t, double> Number>
Option& Option::between(Number min, Number max) {
  option_->check(in_range(min, max));
  return *this;
}

template Option& Option::between(std::int64_t, std::int64_t);
template Option& Option::between(std::uint64_t, std::uint64_t);
template Option& Option::between(double, double);

Option& Option::repeated() {
  option_->take_all()->allow_extra_args(false);
  return *this;
}

Option& Option::repeated_as_lines() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::Join);
  return *this;
}

Option& Option::take_all() {
  option_->take_all();
  return *this;
}

Option& Option::take_lists() {
  option_->delimiter(',')->take_all();
  return *this;
}

Option& Option::words(int min, int max) {
  option_->expected(min, max);
  return *this;
}

Command Command::seldom() const {
  Command result = *this;
  result.seldom_ = true;
  return result;
}

Option Command::added(CLI::Option& option) const {
  if (seldom_) option.group(apps::seldom);
  return Option(option);
}

template <FlagValue T>
Option Command::option(const std::string& names, T& value, const char* type, const std::string& help) {
  CLI::Option* const option = app_->add_option(names, value, help)->type_name(type);
  if (const std::string_view kind = named_by(type); !kind.empty()) option->check(not_empty(kind));
  return added(*option);
}

template Option Command::option(const std::string&, std::string&, const char*, const std::string&);
template Option Command::option(const std::string&, std::int64_t&, const char*, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const char*, const std::string&);
template Option Command::option(const std::string&, double&, const char*, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const char*, const std::string&);
template Option Command::option(const std::string&, std::optional<std::string>&, const char*, const std::string&);
template Option Command::option(const std::string&, std::optional<std::int64_t>&, const char*, const std::string&);
template Option Command::option(const std::string&, std::optional<double>&, const char*, const std::string&);

Option Command::flag(const std::string& names, bool& value, const std::string& help) {
  return added(*app_->add_flag(names, value, help));
}

Option Command::flag(const std::string& names, int& count, const std::string& help) {
  return added(*app_->add_flag(names, count, help));
}

void Command::needs(const std::string& flag, const std::string& other) {
  app_->get_option(flag)->needs(app_->get_option(other));
}

void Command::excludes(const std::string& flag, const std::vector<std::string>& others) {
  for (const std::string& other : others) app_->get_option(flag)->excludes(app_->get_option(other));
}

void Command::describe(const std::string& text) { app_->description(text); }
void Command::examples(const std::string& lines) { app_->footer(lines); }
void Command::run(std::function<void()> body) { app_->callback(std::move(body)); }
void Command::hide() { app_->group(""); }

Command Command::add(const std::string& name, const std::string& description) {
  return Command(*app_->add_subcommand(name, description));
}

void Command::one_at_most() { app_->require_subcommand(0, 1); }

std::string Command::full_name() const { return apps::full_name(*app_); }

const CLI::App& Command::parent() const { return *app_->get_parent(); }

}  // namespace deplo::apps
