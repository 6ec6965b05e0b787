// The text of --help, and the message for a command line that cannot be parsed. It includes CLI11, so only cli/ may
// include it.
#pragma once
#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace deplo::apps {

/// The group of options that only --help-all shows.
inline constexpr const char* seldom = "More options";

/// Formats --help for a window of `width` columns. A command's description is a line for lists of commands, followed by
/// the details for --help. Its footer has examples, one per line.
std::shared_ptr<CLI::Formatter> help_formatter(std::size_t width);

/// Returns the last command that was parsed, which is closest to what the user meant. Ignores unknown words after it.
const CLI::App& latest_command(const CLI::App&);
/// Returns the command with the program and the commands above it: "deplo db best".
std::string full_name(const CLI::App&);
/// Returns the subcommands that --help lists.
std::vector<const CLI::App*> visible_commands(const CLI::App&);
/// Returns the text of --help for an option or an argument, with its default.
std::string help_text(const CLI::Option&);

/// Returns a message of one line for a command line that cannot be parsed (`error` says why), or that asks for help on
/// an unknown command: what was expected, what was found, and a guess at what was meant.
std::string explain(const CLI::App&, const CLI::ParseError& error);

}  // namespace deplo::apps
