// A command and its flags, as every command declares them. This interface hides CLI11, which parses them. CLI11's
// headers take 3.4 s of CPU for each file that includes them, so only cli/ includes them.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace deplo::apps {

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);
/// The types of variables for flags. An optional has no value if the flag is not given.
template <class T>
concept FlagValue = one_of<T, std::string, std::int64_t, std::uint64_t, double, std::vector<std::string>,
                           std::optional<std::string>, std::optional<std::int64_t>, std::optional<double>>;

/// A handle of a flag or an argument that was added. It may be copied, and is valid as long as its command.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// --help shows the variable's current value as the default.
  Option& show_default();
  /// Refuses a value that is not a number, or is outside the range.
  template <one_of<std::int64_t, std::uint64_t, double> Number>
  Option& between(Number min, Number max);
  /// The option may be given several times, with one value each time.
  Option& repeated();
  /// The same, and the values are the lines of one text.
  Option& repeated_as_lines();
  /// The option takes all words after it, and may be given several times.
  Option& take_all();
  /// The same, and each word is a list separated by commas.
  Option& take_lists();
  /// The option takes between `min` and `max` words.
  Option& words(int min, int max);

 private:
  CLI::Option* option_;
};

/// A handle of a command, with which the command is described. Like Option, it may be copied.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// Returns the same command. Options that are added to the result are shown only in --help-all.
  Command seldom() const;
  /// Adds a flag such as "-k,--kernel", or an argument such as "file". `value` must outlive the command line. `type`:
  /// the name of the value's type in help and completions (values_of() in apps/cli/command_line.h knows the types).
  template <FlagValue T>
  Option option(const std::string& names, T& value, const char* type, const std::string& help);
  /// Adds a flag without a value, which sets `value` to true.
  Option flag(const std::string& names, bool& value, const std::string& help);
  /// Adds a flag without a value, which counts how often it is given: 2 for -vv.
  Option flag(const std::string& names, int& count, const std::string& help);

  /// Refuses a command line that has the flag but not the other one. Both must have been added before.
  void needs(const std::string& flag, const std::string& other);
  /// Refuses a command line that has the flag and one of the others. All must have been added before.
  void excludes(const std::string& flag, const std::vector<std::string>& others);

  /// `text`: the first line is shown in lists of commands, the others in --help.
  void describe(const std::string& text);
  /// `lines`: command lines for a beginner, one per line.
  void examples(const std::string& lines);
  void run(std::function<void()> body);
  /// Leaves the command out of lists of commands.
  void hide();

  Command add(const std::string& name, const std::string& description = "");
  /// Refuses a command line with more than one subcommand of this command.
  void one_at_most();
  /// Returns the command with the program and the commands above it: "deplo db best".
  std::string full_name() const;
  /// Returns the command or program to which this command belongs.
  const CLI::App& parent() const;

 private:
  Option added(CLI::Option& option) const;
  CLI::App* app_;
  bool seldom_ = false;
};

}  // namespace deplo::apps
