// Prints a table of a module's kernels: what each computes and moves, and how much work it does.
#pragma once
#include <cstddef>
#include <string>

#include "ir/module.h"

namespace deplo::apps {

/// Returns one line per kernel: number, name, shape of the output, GFLOP, MB, FLOP/byte, what it reads, and `as N` if
/// it equals kernel N; then the totals. `width`: the window's width in columns; 0: no limit.
std::string print_summary(const ir::Module&, std::size_t width);

}  // namespace deplo::apps
