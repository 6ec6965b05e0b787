// Text as a person reads it on a terminal.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace deplo {

/// Columns that UTF-8 text takes (one per code point: nothing wider is printed here).
std::size_t columns(std::string_view text);
/// At most `width` columns; what is cut off is shown by `…`.
std::string cut(std::string_view text, std::size_t width);
/// Columns of the terminal behind the file descriptor, read anew at every call; 0 when it is none.
std::size_t terminal_width(int descriptor);
/// Three to four significant digits: "0.123", "12.3", "812", "15234".
std::string significant(double value);
/// One line that does nothing to a terminal but show itself: control characters, characters that turn the direction of
/// text and bytes that are no UTF-8 are written as \x1b or \u009b, which JSON reads as well where they stand in it.
/// Names and messages come from files that others wrote.
std::string printable(std::string_view text);
/// The same of several lines: newlines and tabs stay.
std::string printable_lines(std::string_view text);
/// "1 kernel", "2 kernels".
std::string counted(std::int64_t count, std::string_view one);
/// "a, b, c" by the separator ", ".
std::string join(std::span<const std::string> texts, std::string_view separator);
std::string join(std::span<const std::int64_t> numbers, std::string_view separator);
/// "0:05", "12:34", "1:02:03".
std::string duration(double seconds);

}  // namespace deplo
