// Prose that fits a window.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace deplo {

/// Lines of at most `width` columns (0: no limit), broken at spaces; each behind the first begins with `indent` spaces,
/// and the first has `used` columns before it already. Line breaks of the text stay. A word that is longer than a line
/// stays whole. No line break at the end.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t used = 0);
/// A command for a shell: the same, with `\` where a line is broken.
std::string wrap_command(std::string_view command, std::size_t width, std::size_t indent = 0, std::size_t used = 0);

}  // namespace deplo
