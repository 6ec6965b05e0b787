// A command and its flags, as every command declares them. CLI11 parses them behind this: its headers cost each file that
// includes them 3.4 s of CPU, so only cli/ does.
#pragma once
#include <concepts>
#include <cstddef>
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
/// What a flag may be read into. The optional ones have no value where the flag is not given.
template <class T>
concept FlagValue = one_of<T, std::string, std::int64_t, std::uint64_t, double, std::vector<std::string>,
                           std::optional<std::string>, std::optional<std::int64_t>, std::optional<double>>;

/// A flag or an argument that was added. A handle: it may be copied, and lives as long as its command.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// Only --help-all shows it.
  Option& seldom();
  /// --help shows the value that the variable has now.
  Option& show_default();
  /// Refuses a value that is no number, or one outside the range.
  Option& between(std::int64_t least, std::int64_t most);
  Option& between(std::uint64_t least, std::uint64_t most);
  Option& between(double least, double most);
  /// May be given several times, a value each time.
  Option& repeated();
  /// Takes all words behind it, and may be given several times.
  Option& take_all();
  /// A word holds several values with this between them.
  Option& delimiter(char);
  /// Takes at least and at most so many words.
  Option& words(int least, int most);

 private:
  CLI::Option* option_;
};

/// A command of the program, to be described. A handle, as Option.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// A flag such as "-k,--kernel", or an argument such as "file". The value must outlive the command line. `type`: what
  /// help and completions call a value (values_of() in apps/cli/command_line.h knows the types).
  template <FlagValue T>
  Option option(const std::string& names, T& value, const char* type, const std::string& help);
  /// A flag without a value: true where it is given.
  Option flag(const std::string& names, bool& value, const std::string& help);
  /// The same, counted: 2 for -vv.
  Option flag(const std::string& names, int& count, const std::string& help);

  /// Refuses a command line that has the flag without the other one. Both were added before.
  void needs(const std::string& flag, const std::string& other);
  /// Refuses a command line that has the flag and one of the others. All were added before.
  void excludes(const std::string& flag, const std::vector<std::string>& others);

  /// The first line is for lists of commands, the others for --help.
  void describe(const std::string& text);
  /// Command lines to begin with, one a line.
  void examples(const std::string& lines);
  void run(std::function<void()> body);
  /// Left out of lists of commands.
  void hide();

  Command add(const std::string& name, const std::string& description = "");
  /// At most one of the commands below it may stand on a command line.
  void one_at_most();
  /// "deplo db best".
  std::string full_name() const;
  /// Of which this is a command.
  const CLI::App& parent() const;

 private:
  CLI::App* app_;
};

}  // namespace deplo::apps
