#include "apps/cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/mapped.h"
#include "core/text/nearest.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "core/text/wrap.h"

namespace deplo::apps {
namespace {

constexpr std::size_t left_column = 24;  // columns for names; the description of a longer name begins on the next line

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Formats a name and its description: "  name    text".
std::string entry(const std::string& name, const std::string& text, std::size_t width) {
  std::string line = "  " + name;
  if (columns(line) + 2 > left_column)
    line += "\n" + std::string(left_column, ' ');
  else
    line += std::string(left_column - columns(line), ' ');
  return line + wrap(text, width, left_column, left_column) + "\n";
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    const bool all = mode == CLI::AppFormatMode::All;
    std::string text = wrap(usage(*app), width_, 7) + "\n\n" + wrap(app->get_description(), width_) + "\n";
    text += commands(*app);
    text += group("Arguments", app->get_options([](const CLI::Option* option) { return option->get_positional(); }));
    std::size_t hidden = 0;
    for (const std::string& name : app->get_groups()) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        return option->get_group() == name && option->nonpositional() && option != app->get_help_all_ptr();
      });
      if (name == seldom && !all)
        hidden += options.size();
      else if (!name.empty())
        text += group(name, options);
    }
    if (hidden > 0) text += entry("--help-all", fmt::format("Show the other {} options too.", hidden), width_);
    return text + examples(app->get_footer());
  }

 private:
  static std::string usage(const CLI::App& app) {
    std::string text = "Usage: " + full_name(app);
    if (!visible_commands(app).empty()) return text + " COMMAND [OPTIONS]";
    for (const CLI::Option* option :
         app.get_options([](const CLI::Option* option) { return option->get_positional(); }))
      text += " " + option->get_type_name();
    return text + " [OPTIONS]";
  }

  std::string commands(const CLI::App& app) const {
    const auto all = visible_commands(app);
    if (all.empty()) return "";
    std::size_t longest = 0;
    for (const CLI::App* command : all) longest = std::max(longest, command->get_name().size());
    std::string text = "\nCommands:\n";
    for (const CLI::App* command : all) {
      const std::size_t used = longest + 4;
      text += fmt::format("  {:<{}}  {}\n", command->get_name(), longest,
                          wrap(first_line(command->get_description()), width_, used, used));
    }
    return text;
  }

  std::string group(const std::string& name, const std::vector<const CLI::Option*>& options) const {
    if (options.empty()) return "";
    std::string text = "\n" + name + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, option->get_positional());
    return text;
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string name = positional ? "" : option->get_name(false, true);
    if (const std::size_t comma = name.find(','); comma != std::string::npos) name.insert(comma + 1, " ");
    if (const std::string type = option->get_type_name(); !type.empty()) name += (name.empty() ? "" : " ") + type;
    return entry(name, help_text(*option), width_);
  }

  std::string examples(const std::string& footer) const {
    if (footer.empty()) return "";
    std::string text = footer.find('\n') == std::string::npos ? "\nExample:\n" : "\nExamples:\n";
    for (const std::string_view line : lines_of(footer)) text += "  " + wrap_command(line, width_, 4, 2) + "\n";
    return text;
  }

  std::size_t width_;
};

std::vector<std::string> command_names(const CLI::App& app) {
  return mapped(visible_commands(app), &CLI::App::get_name);
}

/// Returns all names of the command's flags, such as "--store" and "-s".
std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Returns the prefix of messages about a command: "db best: "; "" for the program, whose name is before every message.
std::string place(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  const std::string above = place(*command.get_parent());
  return above.substr(0, above.find(':')) + (above.empty() ? "" : " ") + command.get_name() + ": ";
}

/// Returns ", a flag of bench and space" if those commands next to this one have the flag; "" if none has it.
std::string owners(const CLI::App& command, const std::string& flag) {
  std::vector<std::string> names;
  if (command.get_parent() == nullptr) return "";
  for (const CLI::App* other : visible_commands(*command.get_parent()))
    if (other->get_option_no_throw(flag) != nullptr) names.push_back(other->get_name());
  if (names.empty()) return "";
  const std::string last = names.back();
  names.pop_back();
  return fmt::format(", a flag of {}{}", names.empty() ? "" : join(names, ", ") + " and ", last);
}

/// True for commands such as `db best`, which take a store as an argument, too.
bool takes_arguments(const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), &CLI::Option::get_positional);
}

/// Returns "; did you mean --config x.yaml?" if the command has a flag for such a word; "" if not.
std::string missing_flag(const CLI::App& command, const std::string& word) {
  const bool is_store = word.ends_with(".db");
  std::error_code ignored;
  const std::pair<const char*, bool> flags[] = {{"--config", word.ends_with(".yaml") || word.ends_with(".yml")},
                                                {"--pt2", word.ends_with(".pt2")},
                                                {"--space", word.ends_with(".T1.json")},
                                                {"--code", word.find('(') != std::string::npos},
                                                {"--file", word.ends_with(".py")},
                                                {"--spaces", std::filesystem::exists(word, ignored)},
                                                {"--store", is_store && !takes_arguments(command)},
                                                {"--tuned", is_store || word.ends_with(".pack")}};
  for (const auto& [flag, fits] : flags)
    if (fits && command.get_option_no_throw(flag) != nullptr)
      return fmt::format("; did you mean {} {}?", flag, word.find('(') == std::string::npos ? word : '"' + word + '"');
  return "";
}

/// Returns the message about `word`, the first word that no command accepted.
std::string explain_extra(const CLI::App& command, const std::string& word, const std::string& help) {
  std::string expected = "no other argument", found = word, guess;
  const std::vector<std::string> names = command_names(command);
  if (word.size() > 1 && word[0] == '-') {
    expected = "one of its flags";
    found = word.substr(0, word.find('='));
    guess = owners(command, found);
    if (guess.empty()) guess = did_you_mean(found, flag_names(command));
  } else if (!names.empty()) {
    expected = fmt::format("a command ({})", join(names, ", "));
    guess = did_you_mean(word, names);
  } else {
    guess = missing_flag(command, word);
  }
  return fmt::format("{}expected {}, found '{}'{}", place(command), expected, found, guess.empty() ? help : guess);
}

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter(std::size_t width) { return std::make_shared<HelpFormatter>(width); }

const CLI::App& latest_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : latest_command(*parsed.back());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string help_text(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const std::string& value = option.get_default_str(); !value.empty()) {
    if (text.ends_with('.')) text.pop_back();
    text += " [" + value + "].";
  }
  return text;
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = latest_command(app);
  const std::string help = "; see " + full_name(command) + " --help";
  // Report an unknown word first: a flag that seems to be missing is often a misspelt one.
  if (const auto extra = app.remaining(true); !extra.empty()) return explain_extra(command, extra.front(), help);
  std::string message = error.what();
  // Rephrase CLI11's "--time: 1 required SECONDS missing".
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    message = message.substr(0, message.find(':')) + ": expected a value, found none";
  // CLI11's message is "--ab excludes --tuned".
  if (constexpr std::string_view excludes = " excludes "; dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    message.replace(message.find(excludes), excludes.size(), " cannot be combined with ");
  return message + help;
}

}  // namespace deplo::apps
