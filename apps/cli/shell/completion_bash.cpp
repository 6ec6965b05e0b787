#include <fmt/format.h>

#include "apps/cli/shell/completion.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

constexpr const char* bash_head =
    R"(# Completion of deplo and deplo-tune for bash 4 and later, made by `deplo completion bash`.

# Takes a command, such as 'db best', and optionally one of its flags or the number of one of its arguments. Sets what
# may follow: commands and flags, words, files, folders, a list separated by commas, several values.
_deplo_describe() {
  commands='' flags='' takes='' words='' files='' folders='' list='' many=''
  case $1 in
)";

constexpr const char* bash_tail = R"(  esac
}

_deplo() {
  local commands flags takes words files folders list many
  local path='' option='' last='' word i
  local -i position=1
  [[ ${COMP_WORDS[0]##*/} == deplo-tune ]] && path=tune
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:] ]]; then  # bash splits --ir=tile and cuda:0 into three words
      option=$last
      continue
    fi
    _deplo_describe "$path" "$option"
    if [[ $word == -?* ]]; then
      _deplo_describe "$path" "$word"
      option=${takes:+$word} last=$option
    elif [[ $option ]]; then
      [[ $many ]] || option=''
    elif [[ " $commands " == *" $word "* ]]; then
      [[ $word == help ]] || path+="${path:+ }$word"  # after `deplo help`, the other words name a command
    else
      position+=1 last=''
    fi
  done
  word=${COMP_WORDS[COMP_CWORD]}
  if [[ $word == [=:] ]]; then
    option=$last word=''
  fi
  COMPREPLY=()
  _deplo_describe "$path" "${option:-$position}"
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
    return
  fi
  local before=''
  if [[ $list && $word == *,* ]]; then
    before=${word%,*},
    word=${word##*,}
  fi
  [[ $option ]] && commands=''
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$commands $words" -- "$word")
  if [[ $files ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
  elif [[ $folders ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$word")
  fi
  [[ ! $files$folders ]] || compopt -o filenames 2>/dev/null || true
}

complete -F _deplo deplo deplo-tune
)";

std::string values_line(const std::string& pattern, const OptionText& option) {
  std::string line = fmt::format("        {}) takes=1", pattern);
  if (!option.values.words.empty()) line += fmt::format(" words='{}'", join(option.values.words, " "));
  if (option.values.files) line += " files=1";
  if (option.values.folders) line += " folders=1";
  if (option.values.list) line += " list=1";
  if (option.takes_all) line += " many=1";
  return line + " ;;\n";
}

/// Returns the values of the command's flags and arguments. The last argument's values also hold for all arguments
/// after it.
std::string values(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options)
    if (!option.type.empty()) text += values_line(join(option.names, "|"), option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const bool last = i + 1 == command.arguments.size();
    text += values_line(last ? "[0-9]*" : fmt::format("{}", i + 1), command.arguments[i]);
  }
  return text.empty() ? "" : "      case $2 in\n" + text + "      esac\n";
}

std::string branches(const CommandText& command) {
  std::vector<std::string> names, flags;
  for (const CommandText& one : command.commands) names.push_back(last_word(one.name));
  for (const OptionText& option : command.options) flags.insert(flags.end(), option.names.begin(), option.names.end());
  std::string text = fmt::format("    '{}')\n", command.name);
  if (!names.empty()) text += fmt::format("      commands='{}'\n", join(names, " "));
  text += fmt::format("      flags='{}'\n", join(flags, " ")) + values(command) + "      ;;\n";
  for (const CommandText& one : command.commands) text += branches(one);
  return text;
}

}  // namespace

std::string bash_completion(const CommandText& program) { return bash_head + branches(program) + bash_tail; }

}  // namespace deplo::apps
