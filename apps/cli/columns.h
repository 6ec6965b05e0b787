// Rows of text as a table.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::apps {

/// "0.00012", "12.3", "1234": whole numbers from 100 on.
std::string three_digits(double value);

/// Text in columns of the width of their widest cell, two spaces between them; numbers (`right`) flush right. The first
/// row has the names of the columns. Where the last column does not fit the window it is wrapped, or stands below the
/// others; where they do not fit without it every row is a paragraph: its name and, with the names of their columns,
/// the other cells. What does not fit is made narrower first: a column that says the same in every row becomes a line
/// above, and the columns named in `spare` are left out, from the first on, until the others fit. Each cell is one
/// line, whatever is in it (printable() in core/text/text.h).
std::string align_columns(std::vector<std::vector<std::string>> rows, std::vector<bool> right, std::size_t width,
                          std::span<const std::string_view> spare = {});

}  // namespace deplo::apps
