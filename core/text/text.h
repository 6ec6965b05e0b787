// Text for people to read on a terminal.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/mapped.h"

namespace deplo {

/// Columns of UTF-8 text: one per code point, because nothing wider is printed here.
std::size_t columns(std::string_view text);
/// Cuts the text to `width` columns. `…` replaces the rest.
std::string cut(std::string_view text, std::size_t width);
/// Columns of the terminal at the file descriptor, queried at every call; 0: it is not a terminal.
std::size_t terminal_width(int descriptor);
/// About three significant digits, but at most three decimals: "0.123", "12.3", "812", "15234". "-" if not finite.
std::string significant(double value);
/// A line that cannot control a terminal. It escapes control characters, characters that change the direction of text
/// and bytes that are not valid UTF-8, as \x1b or \u009b. The latter form is valid inside JSON, too. Names and messages
/// need this because they come from files that others wrote.
std::string printable(std::string_view text);
/// Like printable(), but keeps newlines and tabs, for several lines.
std::string printable_lines(std::string_view text);
/// The count with its noun: "1 kernel", "2 kernels".
std::string counted(std::int64_t count, std::string_view one);
template <std::unsigned_integral Count>
std::string counted(Count count, std::string_view one) {
  return counted(static_cast<std::int64_t>(count), one);
}
/// The text with a line break at its end, unless it is empty.
std::string whole_lines(std::string text);
/// Joins the texts, for example to "a, b, c" with the separator ", ".
std::string join(std::span<const std::string> texts, std::string_view separator);
std::string join(std::span<const std::int64_t> numbers, std::string_view separator);
/// Joins text_of(element) of all elements of a range. `text_of` may be a member: join(kernels, ", ", &Kernel::name).
template <class Range, class F>
std::string join(const Range& range, std::string_view separator, F&& text_of) {
  return join(mapped<std::string>(range, text_of), separator);
}
/// The text with the letters A to Z in lower case.
std::string lower_case(std::string_view text);
/// "0:05", "12:34", "1:02:03".
std::string duration(double seconds);

}  // namespace deplo
