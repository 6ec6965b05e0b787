// What the command line offers, as plain data: shell completions and man pages are made of it.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace deplo::apps {

/// What a value may be: one of the words, or a file. Neither: only the user knows.
struct Values {
  std::vector<std::string> words = {};
  bool files = false, folders = false;
  bool list = false;  // of several words, with commas between
};

struct OptionText {
  std::vector<std::string> names;  // "-k", "--kernel"; none of an argument
  std::string type;                // "FILE"; "" of a flag
  std::string help;                // with the default
  Values values;
  bool optional = false;  // the value may be left out
  bool many = false;      // takes all words behind it
  bool repeats = false;   // may be given several times, and each counts
  bool is_seldom = false;
};

struct CommandText {
  std::string name;              // "db best"; "" of the program
  std::string summary, details;  // the first line of its description, and the others
  std::vector<OptionText> options, arguments;
  std::vector<CommandText> commands;  // those that `deplo` lists
  std::vector<std::string> examples;
};

/// Of `deplo` and all of its commands. What a person's own folders are called is not in it.
CommandText describe(const CLI::App& program);

/// What a value is by the name of its type in --help, such as LEVEL or s|ms|us. A type must be known: a new one that is
/// not would be completed by nothing.
Values values_of(const std::string& type);

/// "best" of "db best".
std::string last_word(const std::string& command);

}  // namespace deplo::apps
