#include <fmt/format.h>

#include "apps/cli/shell/completion.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

constexpr const char* fish_head = R"(# Completion of deplo and deplo-tune for fish, made by `deplo completion fish`.

# Prints the command on the command line, such as 'db best'; nothing if there is only the program.
function __fish_deplo_command
    set -l words (commandline -opc)
    set -l command
    string match -q -r '(^|/)deplo-tune$' -- $words[1]; and set command tune
    for word in $words[2..-1]
        set -l longer (string trim -- "$command $word")
        contains -- $longer $__fish_deplo_commands; and set command $longer
    end
    echo $command
end

function __fish_deplo_at
    test (__fish_deplo_command) = "$argv[1]"
end

complete -c deplo -c deplo-tune -f
)";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string value_flags(const OptionText& option) {
  const Values& values = option.values;
  if (option.type.empty()) return "";
  std::string text = values.files ? " -r -F" : " -x";
  if (option.optional) text = values.files ? " -F" : " -f";
  const std::string words = join(values.words, " ");
  if (values.list) return text + fmt::format(" -a '(__fish_complete_list , \"string split \\\" \\\" {}\")'", words);
  if (!words.empty()) return text + fmt::format(" -a '{}'", words);
  return values.folders && !values.files ? text + " -a '(__fish_complete_directories)'" : text;
}

std::string flag_line(const std::string& at, const OptionText& option) {
  std::string text = at;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return text + value_flags(option) + " -d " + quoted(option.help) + "\n";
}

std::string lines(const CommandText& command) {
  const std::string at = fmt::format("complete -c deplo -c deplo-tune -n '__fish_deplo_at \"{}\"'", command.name);
  std::string text = "\n";
  for (const CommandText& one : command.commands)
    text += fmt::format("{} -a {} -d {}\n", at, last_word(one.name), quoted(one.summary));
  for (const OptionText& option : command.options) text += flag_line(at, option);
  for (const OptionText& argument : command.arguments)
    if (const Values& values = argument.values; values.files)
      text += at + " -F\n";
    else if (!values.words.empty())
      text += fmt::format("{} -a '{}'\n", at, join(values.words, " "));
    else if (values.folders)
      text += at + " -a '(__fish_complete_directories)'\n";
  for (const CommandText& one : command.commands) text += lines(one);
  return text;
}

void add_names(const CommandText& command, std::vector<std::string>& names) {
  for (const CommandText& one : command.commands) {
    // skipped, so that `deplo help db` is completed like `deplo db`
    if (one.name != "help") names.push_back(quoted(one.name));
    add_names(one, names);
  }
}

}  // namespace

std::string fish_completion(const CommandText& program) {
  std::vector<std::string> names;
  add_names(program, names);
  return fmt::format("{}\nset -g __fish_deplo_commands {}\n{}", fish_head, join(names, " "), lines(program));
}

}  // namespace deplo::apps
