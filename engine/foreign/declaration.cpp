#include "engine/foreign/declaration.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "core/text/characters.h"
#include "core/text/split.h"

namespace deplo::engine::foreign {
namespace {

/// Returns the text with blanks instead of comments. Positions and lines stay the same.
std::string without_comments(std::string_view source) {
  std::string text(source);
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    const bool is_line = rest.starts_with("//");
    if (!is_line && !rest.starts_with("/*")) {
      ++at;
      continue;
    }
    const std::size_t end = source.find(is_line ? "\n" : "*/", at + 2);
    const std::size_t next = end == std::string_view::npos ? source.size() : end + (is_line ? 0 : 2);
    for (; at < next; ++at)
      if (text[at] != '\n') text[at] = ' ';
  }
  return text;
}

/// Splits the text into words: names, and each other non-blank character as a word of its own.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    if (end > at)
      words.emplace_back(text.substr(at, end - at));
    else if (std::isspace(static_cast<unsigned char>(text[at])) == 0)
      words.emplace_back(1, text[at]);
    at = std::max(end, at + 1);
  }
  return words;
}

/// Returns the position after the bracket that closes the one at `open`, or npos if it is never closed.
std::size_t end_of_list(std::string_view text, std::size_t open, char closing = ')') {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == text[open]) ++depth;
    if (text[at] == closing && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// A place where the text declares a kernel, or an instance of one.
struct Declaration {
  std::size_t head;                // position after the previous statement
  std::size_t open;                // position of the bracket after the name
  std::vector<std::string> words;  // words from the head to the name; preprocessor directives are among them
};

/// Returns the declarations of the kernel `name` in a text without comments. `bracket` follows the name: '(' before
/// parameters, '<' before template arguments.
std::vector<Declaration> declarations_in(const std::string& text, std::string_view name, char bracket) {
  std::vector<Declaration> declarations;
  for (std::size_t at = text.find(name); !name.empty() && at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t open = text.find_first_not_of(" \t\r\n", at + name.size());
    if (open == std::string::npos || text[open] != bracket || (at > 0 && is_word_char(text[at - 1]))) continue;
    // characters to search before the name: attributes, and macros above the kernel
    constexpr std::size_t max_head = 4096;
    const std::size_t first = at > max_head ? at - max_head : 0;
    const std::string_view before = std::string_view(text).substr(first, at - first);
    const std::size_t head = before.find_last_of(";{}") + 1;
    std::vector<std::string> words = words_in(before.substr(head));
    const auto is_kernel = [](const std::string& w) { return w == "__global__" || w == "__kernel" || w == "kernel"; };
    if (std::ranges::any_of(words, is_kernel)) declarations.push_back({first + head, open, std::move(words)});
  }
  return declarations;
}

/// Returns the position of the first word of a declaration, after preprocessor directives.
std::size_t first_word(std::string_view text, std::size_t at) {
  constexpr std::string_view blanks = " \t\r\n";
  at = text.find_first_not_of(blanks, at);
  while (at < text.size() && text[at] == '#')
    at = text.find_first_not_of(blanks, std::min(text.find('\n', at), text.size()));
  return at;
}

std::vector<std::string_view> parameters_in(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const std::string_view opening = "(<[{", closing = ")>]}";
    if (opening.find(list[at]) != std::string_view::npos) ++depth;
    if (closing.find(list[at]) != std::string_view::npos) --depth;
    if (list[at] != ',' || depth != 0) continue;
    parts.push_back(list.substr(start, at - start));
    start = at + 1;
  }
  parts.push_back(list.substr(start));
  return parts;
}

bool is_qualifier(std::string_view word) {
  static const std::set<std::string_view> qualifiers{
      "const",       "volatile",  "restrict",     "__restrict__", "__restrict",   "__global",   "global",
      "__constant",  "constant",  "__local",      "local",        "__private",    "private",    "struct",
      "__read_only", "read_only", "__write_only", "write_only",   "__read_write", "read_write", "__grid_constant__"};
  return qualifiers.contains(word);
}

/// Returns true if the source gives the name another meaning by a macro, a typedef, a class or a template parameter.
bool is_redefined(const std::vector<std::string>& source, const std::string& name) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != name || i == 0) continue;
    const std::string& before = source[i - 1];
    const bool ends = i + 1 < source.size() && source[i + 1] == ";";
    if (before == "define" || before == "using" || before == "typename" || before == "class" || before == "struct")
      return true;
    for (std::size_t k = i; ends && k > 0 && source[k] != "}" && (k == i || source[k] != ";"); --k)
      if (source[k - 1] == "typedef") return true;
  }
  return false;
}

/// Parses one parameter: "float4* restrict x", "const unsigned int n", "__local float* l". Returns nullopt if one of
/// the words may be a macro.
std::optional<DeclaredParameter> parameter_of(std::string_view text, const std::vector<std::string>& source) {
  const std::vector<std::string> words = words_in(text.substr(0, text.find('=')));
  DeclaredParameter parameter;
  std::vector<std::string> types;  // words of the type; the last one may be the parameter's name
  bool is_whole = true;
  for (const std::string& word : words) {
    if (word == "*" || word == "[") parameter.is_pointer = true;
    if (word == "[") break;
    if (word == "&" || word == "<" || word == ":" || word == ".") is_whole = false;
    if (is_word_char(word.front()) && !is_qualifier(word)) types.push_back(word);
  }
  if (types.empty() || (types.size() == 1 && !parameter.is_pointer)) return std::nullopt;
  const auto is_part = [](const std::string& word) {
    return word == "unsigned" || word == "signed" || word == "int" || word == "long" || word == "short" ||
           word == "char";
  };
  std::size_t count = 1;
  while (count < types.size() && is_part(types[0]) && is_part(types[count])) ++count;
  if (types.size() > count + 1) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) parameter.type += (i == 0 ? "" : " ") + types[i];
  parameter.is_known =
      is_whole && std::ranges::none_of(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(count),
                                       [&](const auto& type) { return is_redefined(source, type); });
  return parameter;
}

}  // namespace

std::optional<std::vector<DeclaredParameter>> declared_parameters(std::string_view source, std::string_view entry) {
  const std::string text = without_comments(source);
  const std::vector<std::string> words = words_in(text);
  std::optional<std::vector<std::string>> found;  // words of the parameter list
  std::string list;
  for (const Declaration& declaration : declarations_in(text, entry, '(')) {
    const std::size_t open = declaration.open;
    const std::size_t end = end_of_list(text, open);
    if (end == std::string::npos) return std::nullopt;
    list = text.substr(open + 1, end - open - 2);
    std::vector<std::string> here = words_in(list);
    if (list.find_first_of("#(") != std::string::npos || (found && *found != here)) return std::nullopt;
    found = std::move(here);
  }
  if (!found) return std::nullopt;
  std::vector<DeclaredParameter> parameters;
  if (found->empty() || *found == std::vector<std::string>{"void"}) return parameters;
  for (const std::string_view part : parameters_in(list)) {
    auto parameter = parameter_of(part, words);
    if (!parameter) return std::nullopt;
    parameters.push_back(*std::move(parameter));
  }
  return parameters;
}

std::vector<std::string> template_instances(std::string_view source, std::string_view entry) {
  const std::string text = without_comments(source);
  std::vector<std::string> instances;
  for (const Declaration& instance : declarations_in(text, entry, '<')) {
    const std::size_t end = end_of_list(text, instance.open, '>');
    if (end == std::string::npos || std::ranges::find(instance.words, "template") == instance.words.end()) continue;
    std::string arguments = text.substr(instance.open, end - instance.open);
    if (std::ranges::find(instances, arguments) == instances.end()) instances.push_back(std::move(arguments));
  }
  return instances;
}

bool is_template(std::string_view source, std::string_view entry) {
  const std::vector<Declaration> found = declarations_in(without_comments(source), entry, '(');
  return std::ranges::any_of(found, [](const Declaration& declaration) {
    const auto parameters = std::ranges::search(declaration.words, std::array{"template", "<"});
    return !parameters.empty();
  });
}

std::optional<std::string> with_plain_name(std::string_view source, std::string_view entry) {
  const std::string text = without_comments(source);
  if (text.find("extern \"C\"") != std::string::npos) return std::string(source);
  const std::vector<Declaration> declarations = declarations_in(text, entry, '(');
  if (declarations.empty()) return std::nullopt;
  const Declaration& first = declarations.front();  // the linkage stands at the first declaration
  const std::size_t at = first_word(text, first.head);
  if (at >= first.open || !std::string_view(text).substr(at).starts_with("__global__")) return std::nullopt;
  return std::string(source).insert(at, "extern \"C\" ");
}

std::size_t line_of_define(std::string_view source, std::string_view name) {
  const std::string text = without_comments(source);
  int conditions = 0;  // that surround the line
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::vector<std::string> words = words_in(line);
    if (words.size() < 2 || words[0] != "#") continue;
    if (words[1].starts_with("if")) ++conditions;
    if (words[1] == "endif") --conditions;
    if (conditions == 0 && words[1] == "define" && words.size() > 2 && words[2] == name) return number;
  }
  return 0;
}

std::vector<std::string> names_of_functions(std::string_view source) {
  const std::vector<std::string> words = words_in(without_comments(source));
  std::vector<std::string> names;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i] == "(" && is_word_char(words[i - 1].front())) names.push_back(words[i - 1]);
  return names;
}

}  // namespace deplo::engine::foreign
