#include "apps/cli/shell/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text/code_point.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "engine/revision.h"

namespace deplo::apps {
namespace {

/// Escapes text for roff. The result is ASCII, which every program that formats man(7) accepts.
std::string roff(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || text[at - 1] == '\n';
    const auto [code, bytes] = code_point(text.substr(at));
    CHECK(bytes > 0);  // the program's own text is valid UTF-8
    at += bytes;
    if (begins && (code == '.' || code == '\'')) result += "\\&";  // so that the line is not a request
    if (code >= 0x80)
      result += fmt::format("\\[u{:04X}]", code);
    else if (code == '\\')
      result += "\\e";
    else if (code == '-')
      result += "\\-";  // stays a plain '-', so that flags can be copied from a terminal
    else if (code == '\'')
      result += "\\(aq";
    else if (code == '`')
      result += "\\(ga";
    else
      result += static_cast<char>(code);
  }
  return result;
}

/// Returns the name of a command's page: "deplo-db-best"; "deplo" for the program.
std::string page_name(const CommandText& command) {
  std::string name = command.name.empty() ? "deplo" : "deplo-" + command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string paragraphs(const std::string& text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) result += ".PP\n" + roff(line) + "\n";
  return result;
}

std::string synopsis(const CommandText& command) {
  const auto line = [&](const std::string& name) {
    std::string text = ".B " + roff(name) + "\n";
    if (!command.commands.empty()) text += "COMMAND ";
    for (const OptionText& argument : command.arguments) text += roff(argument.type) + " ";
    return text + "[OPTIONS]\n";
  };
  std::string text = ".SH SYNOPSIS\n" + line(command.name.empty() ? "deplo" : "deplo " + command.name);
  if (command.name == "tune") text += ".br\n" + line("deplo-tune");
  return text;
}

std::string entry(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(fmt::format("\\fB{}\\fR", roff(name)));
  std::string title = join(names, ", ");
  if (!option.type.empty()) title += fmt::format("{}\\fI{}\\fR", title.empty() ? "" : " ", roff(option.type));
  return ".TP\n" + title + "\n" + roff(option.help) + "\n";
}

template <class Wanted>
std::string entries(const char* title, const std::vector<OptionText>& options, Wanted wanted) {
  std::string text;
  for (const OptionText& option : options)
    if (wanted(option)) text += entry(option);
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

/// Returns false for --help-all, because the page shows every option anyway.
bool is_shown(const OptionText& option) { return std::ranges::find(option.names, "--help-all") == option.names.end(); }

std::string commands(const CommandText& command) {
  if (command.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const CommandText& one : command.commands) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff(last_word(one.name)), roff(one.summary));
    if (one.name != "help") text += fmt::format("See \\fB{}\\fR(1).\n", roff(page_name(one)));
  }
  return text;
}

std::string page(const CommandText& command, const CommandText* above) {
  const std::string name = page_name(command), number(engine::version().substr(0, engine::version().find(' ')));
  std::string title = roff(name);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text = fmt::format(
      ".\\\" Made by `deplo man` from the texts of `deplo --help-all`.\n.TH \"{}\" 1 \"\" \"deplo {}\" "
      "\"deplo\"\n.nh\n.ad l\n",
      title,
      number);  // .nh: no hyphens in names; .ad l: no wide gaps
  std::string summary = command.summary;
  if (summary.ends_with('.')) summary.pop_back();
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(summary)) + synopsis(command);
  text += ".SH DESCRIPTION\n" + roff(command.summary) + "\n" + paragraphs(command.details);
  text += commands(command);
  text += entries("ARGUMENTS", command.arguments, [](const OptionText&) { return true; });
  text += entries("OPTIONS", command.options, [](const OptionText& one) { return is_shown(one) && !one.is_seldom; });
  text += entries("MORE OPTIONS", command.options, [](const OptionText& one) { return one.is_seldom; });
  if (!command.examples.empty()) text += ".SH EXAMPLES\n";
  for (const std::string& example : command.examples) text += ".PP\n.EX\n" + roff(example) + "\n.EE\n";
  if (above != nullptr) text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", roff(page_name(*above)));
  return text;
}

void add_pages(const CommandText& command, const CommandText* above, std::vector<ManPage>& pages) {
  pages.push_back({page_name(command) + ".1", page(command, above)});
  for (const CommandText& one : command.commands)
    if (one.name != "help") add_pages(one, &command, pages);
}

}  // namespace

std::vector<ManPage> man_pages(const CommandText& program) {
  std::vector<ManPage> pages;
  add_pages(program, nullptr, pages);
  return pages;
}

}  // namespace deplo::apps
