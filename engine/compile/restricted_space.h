// A space whose forks offer only what restrictions leave.
#pragma once
#include "engine/source/restrict.h"
#include "search/space.h"

namespace deplo::engine {

/// The root of the restricted space. `root`: that of the whole one.
search::PositionPtr restricted(search::PositionPtr root, const Restrictions&);
/// The position of the whole space that a position below restricted() stands for; any other position is its own.
const search::Position& unrestricted(const search::Position&);

}  // namespace deplo::engine
