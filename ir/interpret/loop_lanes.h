// Loop programs in lanes: free loops run in lockstep, like the threads of a Tile. Private to the interpreter.
#pragma once
#include <optional>

#include "ir/program.h"

namespace deplo::ir::exec {

/// Returns the same program in Tile IR, with its outermost free loops as block and thread axes. The interpreter
/// executes it several times as fast. Returns nullopt if the order of the iterations may matter, or if too few
/// iterations can run together.
std::optional<Program> in_lanes(const Program& loop);

}  // namespace deplo::ir::exec
