// Wraps prose to fit a window.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace deplo {

/// Wraps the text at spaces to lines of at most `width` columns (0: no limit). Lines after the first begin with
/// `indent` spaces, and `used` columns precede the first line. Line breaks of the text are kept. A word that is longer
/// than a line stays whole. There is no line break at the end.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t used = 0);
/// Like wrap() for a shell command, with `\` at the end of each broken line.
std::string wrap_command(std::string_view command, std::size_t width, std::size_t indent = 0, std::size_t used = 0);

}  // namespace deplo
