#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/cli/shell/completion.h"
#include "core/text/split.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

constexpr const char* zsh_head = R"(#compdef deplo deplo-tune
# Completion of deplo and deplo-tune for zsh, made by `deplo completion zsh`.

)";

constexpr const char* zsh_tail = R"(_deplo() {
  case ${service:t} in
    deplo-tune) _deplo_tune ;;
    *) _deplo_program ;;
  esac
}

# In a file in $fpath, this file is the body of _deplo. If it is sourced, it registers the completion.
if [[ $funcstack[1] == _deplo ]]; then
  _deplo "$@"
else
  compdef _deplo deplo deplo-tune
fi
)";

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\'";  // '\'' ends the quotes, adds a quote, and begins them again
    else if (c == '\\' || special.find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  return result;
}

/// Returns the name of a command's function: "_deplo_db_best"; "_deplo_program" for the program itself.
std::string function_name(const std::string& command) {
  std::string name = command.empty() ? "program" : command;
  std::ranges::replace(name, ' ', '_');
  return "_deplo_" + name;
}

/// Returns what completes a type: a function of zsh, or a function of ours if both words and files are possible.
std::string action(const OptionText& option) {
  const Values& values = option.values;
  if (values.list || (!values.words.empty() && values.files)) return "_deplo_type_" + option.type;
  if (!values.words.empty()) return fmt::format("({})", join(values.words, " "));
  if (values.files) return "_files";
  return values.folders ? "_files -/" : "";
}

std::string type_function(const OptionText& option) {
  const std::string words = join(option.values.words, " ");
  const std::string begin = fmt::format("_deplo_type_{}() {{\n", option.type);
  if (option.values.list) return begin + fmt::format("  _values -s , {} {}\n}}\n\n", option.type, words);
  return begin + fmt::format("  _alternative 'words:{0}:({1})' 'files:file:_files'\n}}\n\n", option.type, words);
}

/// Returns ":TYPE:action" for each value of the option.
std::string value_specs(const OptionText& option) {
  std::string text, type = option.type;
  if (type.empty()) return "";
  std::erase_if(type, [](char c) { return c == '[' || c == ']'; });
  for (const std::string_view word : split_at(type, ' '))  // a type may be several words, such as TRAIL TRAIL
    text += fmt::format("{}{}:{}", option.optional ? "::" : ":", escaped(word, ":"), action(option));
  return text;
}

std::string flag_spec(const OptionText& option) {
  const std::string help = fmt::format("[{}]{}", escaped(option.help, "[]:"), value_specs(option));
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(option.type.empty() ? name : name + (name.starts_with("--") ? "=" : "+"));
  const std::string repeated = option.repeats ? "'*'" : "";
  if (names.size() == 1) return fmt::format("{}{}'{}'", repeated, names.front(), help);
  const std::string others = option.repeats ? "" : fmt::format("'({})'", join(option.names, " "));
  return fmt::format("{}{}{{{}}}'{}'", others, repeated, join(names, ","), help);
}

std::string argument_specs(const CommandText& command) {
  std::string text;
  for (const OptionText& argument : command.arguments) {
    const bool last = &argument == &command.arguments.back();
    const std::string specs = value_specs(argument);
    const std::string type = escaped(argument.type, ":[]"), does = action(argument);
    text += last && argument.takes_all ? fmt::format(" \\\n    '*:{}:{}'", type, does)
                                       : fmt::format(" \\\n    '{}'", specs);
  }
  return text;
}

std::string function_of(const CommandText& command) {
  std::string text = fmt::format(
      "{}() {{\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n"
      "  _arguments -C",
      function_name(command.name));
  for (const OptionText& option : command.options) text += " \\\n    " + flag_spec(option);
  text += argument_specs(command);
  if (command.commands.empty()) return text + "\n}\n\n";
  text +=
      " \\\n    '1:command:->command' '*::argument:->argument'\n  case $state in\n    command)\n"
      "      local -a commands=(\n";
  for (const CommandText& one : command.commands)
    text += fmt::format("        '{}:{}'\n", last_word(one.name), escaped(one.summary, ":"));
  text += "      )\n      _describe -t commands command commands\n      ;;\n    argument)\n      case $line[1] in\n";
  for (const CommandText& one : command.commands)
    text += fmt::format("        {}) {} ;;\n", last_word(one.name), function_name(one.name == "help" ? "" : one.name));
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

void add_functions(const CommandText& command, std::string& functions, std::map<std::string, std::string>& types) {
  for (const auto* options : {&command.options, &command.arguments})
    for (const OptionText& option : *options)
      if (action(option).starts_with("_deplo_type_")) types.try_emplace(option.type, type_function(option));
  functions += function_of(command);
  for (const CommandText& one : command.commands)
    if (one.name != "help") add_functions(one, functions, types);
}

}  // namespace

std::string zsh_completion(const CommandText& program) {
  std::string functions, text = zsh_head;
  std::map<std::string, std::string> types;
  add_functions(program, functions, types);
  for (const auto& [type, function] : types) text += function;
  return text + functions + zsh_tail;
}

}  // namespace deplo::apps
