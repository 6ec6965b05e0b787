// The flags that several commands have.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.h"
#include "engine/source/restrict.h"

namespace deplo::apps {

/// To standard output, as printable_lines() (core/text/text.h); throws Error(environment) where it cannot be written.
void print_result(const std::string& text);
/// The same of what is no text, as it is.
void print_bytes(const std::string& bytes);

// Not left to CLI11, which would speak of a missing flag before one that is misspelt.
void require(const std::string& value, const char* flag);

/// --inputs and --tolerance, of which the help of each command says the same.
void add_inputs(Command command, std::string& file);
void add_tolerance(Command command, double& tolerance);

/// --objective of recorded spaces, for search::parse_objective().
void add_objective(Command command, std::string& objective);

/// --device.
void add_device(Command command, std::string& device);
/// --restrict, which may be repeated; its values are for parse_restrictions(). `otherwise`: the set of restrictions
/// that is used where the flag names none, for the help.
void add_restrictions(Command command, std::vector<std::string>& restrictions, std::string_view otherwise);
struct RestrictFlags {
  std::string set;           // the last name among them: of a file under configs/restrictions, or none; "": no name
  engine::Restrictions own;  // KNOB=VALUE,…
};
/// Throws Error.
RestrictFlags parse_restrictions(const std::vector<std::string>& restrictions);

}  // namespace deplo::apps
