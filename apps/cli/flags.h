// What the subcommands share. Includes CLI11, so only commands*.cpp include it.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/cli/help.h"
#include "engine/compile/restrict.h"

namespace deplo::apps {

/// To standard output, as printable_lines() (core/text/text.h); throws Error(environment) where it cannot be written.
void print_result(const std::string& text);
/// The same of what is no text, as it is.
void print_bytes(const std::string& bytes);

// Not left to CLI11, which would speak of a missing flag before one that is misspelt.
void require(const std::string& value, const char* flag);

/// --inputs and --tolerance, of which the help of each command says the same.
void add_inputs(CLI::App& command, std::string& file);
void add_tolerance(CLI::App& command, double& tolerance);

/// --device.
void add_device(CLI::App& command, std::string& device);
/// --restrict, which may be repeated; its values are for parse_restrictions().
void add_restrictions(CLI::App& command, std::vector<std::string>& restrictions);
/// Throws Error.
engine::Restrictions parse_restrictions(const std::vector<std::string>& restrictions);

// In place of CLI11's own, which take NaN for a number in every range and print bounds as 0.000000.
template <class Number>
CLI::Validator between(Number least, Number most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // A NaN is in no range.
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return "";
    const char* const kind = std::is_integral_v<Number> ? "an integer" : "a number";
    return fmt::format("expected {} between {} and {}, found '{}'", kind, least, most, text);
  };
  return CLI::Validator(check, "");
}

}  // namespace deplo::apps
