// The command line's description as plain data, from which shell completions and man pages are made.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace deplo::apps {

/// The possible values of a type: certain words, files or folders. If all members are empty or false, nothing can be
/// suggested.
struct Values {
  std::vector<std::string> words = {};
  bool files = false, folders = false;
  bool list = false;  // several words, separated by commas
};

struct OptionText {
  std::vector<std::string> names;  // "-k", "--kernel"; empty for an argument
  std::string type;                // "FILE"; "" for a flag without a value
  std::string help;                // the description, with the default
  Values values;
  bool optional = false;   // the value may be left out
  bool takes_all = false;  // takes all words after it
  bool repeats = false;    // may be given several times, and each counts
  bool is_seldom = false;
};

struct CommandText {
  std::string name;              // "db best"; "" for the program
  std::string summary, details;  // the first line of the description; its other lines
  std::vector<OptionText> options, arguments;
  std::vector<CommandText> commands;  // the visible subcommands
  std::vector<std::string> examples;
};

/// Describes `deplo` and all its commands. Does not contain the names of the user's own folders.
CommandText describe(const CLI::App& program);

/// Returns the values of a type by its name in --help, such as LEVEL or s|ms|us. The function must know every type,
/// because a shell cannot complete an unknown one.
Values values_of(const std::string& type);

/// Returns "best" for "db best".
std::string last_word(const std::string& command);

}  // namespace deplo::apps
