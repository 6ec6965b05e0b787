// The kernels of a module in one table: what each computes, moves and how much work that is.
#pragma once
#include <cstddef>
#include <string>

#include "ir/module.h"

namespace deplo::apps {

/// One line per kernel: number, name, shape of the output, GFLOP, MB, FLOP/byte, what it reads, `as N` where it equals
/// kernel N; then the totals. For a window of that many columns; 0: no limit.
std::string print_summary(const ir::Module&, std::size_t width);

}  // namespace deplo::apps
