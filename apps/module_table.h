// The kernels of a module in one table: what each computes, moves and how much work that is.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ir/module.h"

namespace deplo::apps {

/// For every kernel the number of the first that is equal to it but for names; its own where it is the first.
std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels);

/// One line per kernel: number, name, shape of the output, GFLOP, MB, FLOP/byte, what it reads, `as N` where it equals
/// kernel N; then the totals. For a window of that many columns; 0: no limit.
std::string print_summary(const ir::Module&, std::size_t width);

/// "0.00012", "12.3", "1234": whole numbers from 100 on.
std::string three_digits(double value);

/// Text in columns of the width of their widest cell, two spaces between them; numbers (`right`) flush right. The first
/// row has the names of the columns. Where the last column does not fit the window it is wrapped, or stands below the
/// others; where they do not fit without it every row is a paragraph: its name and, with the names of their columns,
/// the other cells. Each cell is one line, whatever is in it (printable() in core/text.h).
std::string align_columns(std::vector<std::vector<std::string>> rows, const std::vector<bool>& right,
                          std::size_t width);

}  // namespace deplo::apps
