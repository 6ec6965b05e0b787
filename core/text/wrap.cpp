#include "core/text/wrap.h"

#include <algorithm>

#include "core/text/text.h"

namespace deplo {
namespace {

std::string wrap_line(std::string_view line, std::size_t width, std::size_t indent, std::size_t used,
                      std::string_view broken) {
  std::string text;
  std::size_t column = used;
  bool first = true;
  while (true) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    const bool last = space == line.size();
    const std::size_t needed = columns(word) + (last ? 0 : columns(broken));
    if (!first && column + 1 + needed > width) {
      text += std::string(broken) + "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      text += ' ';
      ++column;
    }
    text += word;
    column += columns(word);
    first = false;
    if (last) return text;
    line.remove_prefix(space + 1);
  }
}

std::string wrap_lines(std::string_view text, std::size_t width, std::size_t indent, std::size_t used,
                       std::string_view broken) {
  if (width == 0) width = std::string::npos;
  std::string wrapped;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrapped += wrap_line(text.substr(0, end), width, indent, used, broken);
    if (end == text.size()) return wrapped;
    text.remove_prefix(end + 1);
    wrapped += '\n';
    if (!text.empty() && text.front() != '\n') wrapped += std::string(indent, ' ');
    used = indent;
  }
}

}  // namespace

std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t used) {
  return wrap_lines(text, width, indent, used, "");
}

std::string wrap_command(std::string_view command, std::size_t width, std::size_t indent, std::size_t used) {
  return wrap_lines(command, width, indent, used, " \\");
}

}  // namespace deplo
