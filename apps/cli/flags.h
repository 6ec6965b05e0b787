// Flags that several commands share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.h"
#include "engine/source/restrict.h"

namespace deplo::apps {

/// Writes printable_lines() (core/text/text.h) of the text to standard output. Throws Error(environment) if it cannot
/// be written.
void print_result(const std::string& text);
/// Writes bytes that are not text to standard output, unchanged. Throws the same Error.
void print_bytes(const std::string& bytes);

/// Returns the columns of the terminal that shows the standard output; 0: it is not a terminal.
std::size_t window_width();

// Throws Error if the value is empty. CLI11 could check this, but would report a missing flag before a misspelt one.
void require(const std::string& value, const char* flag);

/// add_inputs() adds --inputs and add_tolerance() adds --tolerance, with the same help in all commands.
void add_inputs(Command command, std::string& file);
void add_tolerance(Command command, double& tolerance);
/// Adds --nearest, for schedules from a store.
void add_nearest(Command command, bool& nearest);

/// Adds --objective for recorded spaces. Its value is for search::parse_objective().
void add_objective(Command command, std::string& objective);

/// Adds --seed.
void add_seed(Command command, std::uint64_t& seed, const std::string& help);
/// Adds --restrict, which may be repeated. Its values are for parse_restrictions(). `otherwise`: names the restrictions
/// that hold if the flag names none, for the text of --help.
void add_restrictions(Command command, std::vector<std::string>& restrictions, std::string_view otherwise);
struct RestrictFlags {
  std::string set;           // the last name in the flags: a file under configs/restrictions, or "none"; "": no name
  engine::Restrictions own;  // KNOB=VALUE,…
};
/// Parses the values of --restrict. Throws Error.
RestrictFlags parse_restrictions(const std::vector<std::string>& restrictions);

}  // namespace deplo::apps
