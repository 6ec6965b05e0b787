// A Loop program as lanes: free loops run in lockstep, as the threads of a Tile do. Private to the interpreter.
#pragma once
#include <optional>

#include "ir/program.h"

namespace deplo::ir::exec {

/// The same program in Tile IR, with its outermost free loops as axes of blocks and threads, which the interpreter
/// executes several times as fast. nullopt where the order of the turns may matter, or too few of them run together.
std::optional<Program> in_lanes(const Program& loop);

}  // namespace deplo::ir::exec
