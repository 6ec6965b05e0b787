// The text of --help, and the message for a command line that cannot be parsed. Includes CLI11, so only cli/
// includes it.
#pragma once
#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace deplo::apps {

/// The group of options that --help-all shows and --help leaves out.
inline constexpr const char* seldom = "More options";

/// The description of a command is a line for lists of commands, then what --help says beyond it. Its footer holds
/// examples, one a line. For a window of that many columns.
std::shared_ptr<CLI::Formatter> help_formatter(std::size_t width);

/// The parsed command that is nearest to what the user meant: `deplo db best` has been read as far as it is known.
const CLI::App& latest_command(const CLI::App&);
/// "deplo db best".
std::string full_name(const CLI::App&);
/// Those that --help lists.
std::vector<const CLI::App*> visible_commands(const CLI::App&);
/// The text of --help for an option or an argument, with its default.
std::string help_text(const CLI::Option&);

/// One line: expected, found, and a guess at what was meant. For a command line that cannot be parsed (`error` says
/// why), or that asks for help on an unknown command.
std::string explain(const CLI::App&, const CLI::ParseError& error);

}  // namespace deplo::apps
