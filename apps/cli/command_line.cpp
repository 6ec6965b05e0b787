#include "apps/cli/command_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "apps/cli/compile_levels.h"
#include "apps/cli/help.h"
#include "core/error.h"
#include "core/file.h"
#include "core/outcome.h"
#include "core/text/split.h"
#include "engine/compile/tuned.h"
#include "search/compare/difficulty.h"
#include "search/searcher.h"

namespace deplo::apps {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  const std::vector<std::string_view> parts = lines_of(text, separator);
  return {parts.begin(), parts.end()};
}

std::vector<std::string> strategies() {
  std::vector<std::string> names{"default"};
  for (const search::SearcherKind* kind : search::searchers()) names.emplace_back(kind->name);
  return names;
}

std::vector<std::string> statuses() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Status::timeout); ++i) names.emplace_back(status_name(static_cast<Status>(i)));
  return names;
}

std::vector<std::string> with(std::vector<std::string> words, const char* more) {
  words.emplace_back(more);
  return words;
}

/// Returns true for a type that lists its words, such as "s|ms|us". A type with many words, or with words that change,
/// has a name in capitals instead.
bool lists_words(const std::string& type) {
  return std::ranges::all_of(
      type, [](char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-' || c == '|'; });
}

/// Replaces the path of the user's own store by ~/.cache/deplo/tuned.db, so that the text is the same for every user.
std::string without_home(std::string text) {
  const std::string own = engine::default_store();
  for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at))
    text.replace(at, own.size(), "~/.cache/deplo/tuned.db");
  return text;
}

OptionText describe(const CLI::Option& option) {
  OptionText text;
  if (!option.get_positional()) {
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  }
  text.help = without_home(help_text(option));
  text.is_seldom = option.get_group() == seldom;
  if (option.get_type_size() == 0) return text;
  text.type = option.get_type_name();
  text.values = values_of(text.type);
  text.optional = text.type.starts_with('[');
  const CLI::MultiOptionPolicy policy = option.get_multi_option_policy();
  text.repeats = policy == CLI::MultiOptionPolicy::TakeAll || policy == CLI::MultiOptionPolicy::Join;
  text.takes_all =
      option.get_allow_extra_args() && option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  return text;
}

}  // namespace

Values values_of(const std::string& type) {
  constexpr std::array files = {"FILE", "[FILE]", "FILES", "STORE", "[STORE]", "FILE [FILE]", "A B", "OUT IN..."};
  constexpr std::array own = {"ARCHITECTURE", "CODE",         "COLUMN",          "COLUMNS",     "FINGERPRINT",
                              "I/N",          "KNOB=VALUE,…", "NAME=VALUE,…",    "N",           "NAME",
                              "NAME=SIZE",    "NAME=VALUE",   "NAME|NUMBER",     "NUMBER",      "P",
                              "SECONDS",      "SQL",          "TRAIL",           "TRAIL TRAIL", "X",
                              "X,Y,Z",        "[COMMAND]",    "NAME[:min|:max]", "NAME,…",      "PERCENT",
                              "SIZES",        "RATIO"};
  if (std::ranges::find(own, type) != own.end()) return {};
  if (std::ranges::find(files, type) != files.end()) return {.files = true};
  if (type == "FILES|FOLDERS" || type == "FOLDER|FILE") return {.files = true, .folders = true};
  if (type == "FOLDER") return {.folders = true};
  if (type == "MODEL") return {.words = list_data("configs/models", ".yaml"), .files = true};
  if (type == "KERNEL") return {.words = list_data("configs/kernels", ".loop"), .files = true};
  if (type == "TARGET") return {.words = with(list_data("configs/targets", ".yaml"), "auto")};
  if (type == "DEVICE")
    return {.words = {"cuda", "opencl", "interpreter", "ptx:sm_80", "ptx:sm_90", "ptx:sm_100", "ptx:sm_120"}};
  if (type == "STRATEGY" || type == "[STRATEGY]") return {.words = strategies()};
  if (type == "STRATEGIES") return {.words = strategies(), .list = true};
  if (type == "ORDERS") return {.words = search::compare::order_names(), .list = true};
  if (type == "auto|N") return {.words = {"auto"}};
  if (type == "STATUS") return {.words = statuses()};
  if (type == "LEVEL") return {.words = with(compile_levels(engine::SourceKind::expression), "tile-program")};
  CHECK(lists_words(type));  // fails for a new type that no line above knows
  return {.words = split(type, '|')};
}

CommandText describe(const CLI::App& app) {
  CommandText text;
  if (app.get_parent() != nullptr) text.name = full_name(app).substr(full_name(app).find(' ') + 1);
  const std::vector<std::string> lines = split(without_home(app.get_description()), '\n');
  text.summary = lines.front();
  for (std::size_t i = 1; i < lines.size(); ++i) text.details += lines[i] + "\n";
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? text.arguments : text.options).push_back(describe(*option));
  for (const CLI::App* command : visible_commands(app)) text.commands.push_back(describe(*command));
  text.examples = split(without_home(app.get_footer()), '\n');
  return text;
}

std::string last_word(const std::string& command) { return command.substr(command.rfind(' ') + 1); }

}  // namespace deplo::apps
