// Formats rows of text as a table.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::apps {

/// A table with more launches than this has one row per distinct kernel, because the steps of a recurrence are
/// thousands of launches.
inline constexpr std::size_t max_launch_rows = 100;

/// Formats a number with three significant digits: "0.00012", "12.3". From 100 on, with all digits of its integer part:
/// "1234".
std::string three_digits(double value);

/// Returns significant() of a positive number, and "-" for others, which are not known.
std::string or_dash(double value);

/// Pads the text on the left with blanks to `width` columns. Returns a wider text unchanged.
std::string right_aligned(std::string_view text, std::size_t width);

/// Aligns text in columns as wide as their widest cell, with two spaces between them. Columns marked in `right` are
/// right-aligned. The first row has the names of the columns. A table that does not fit `width` is made narrower in
/// these steps: a column with the same text in every row becomes a line above the table; columns named in `spare` are
/// left out, the first one first, until the table fits; the last column is wrapped, or is put below the others;
/// finally, each row becomes a paragraph of its name and its other cells, with their columns' names. Each cell is one
/// line, whatever it contains (printable() in core/text/text.h).
std::string align_columns(std::vector<std::vector<std::string>> rows, std::vector<bool> right, std::size_t width,
                          std::span<const std::string_view> spare = {});

}  // namespace deplo::apps
