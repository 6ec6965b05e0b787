// A space whose forks offer only the options that restrictions allow.
#pragma once
#include "engine/source/restrict.h"
#include "search/space.h"

namespace deplo::engine {

/// Returns the root of the restricted space. `root` is the root of the unrestricted space.
search::PositionPtr restricted(search::PositionPtr root, const Restrictions&);
/// Returns the position of the unrestricted space that a position below restricted() wraps. Returns any other position
/// unchanged.
const search::Position& unrestricted(const search::Position&);

}  // namespace deplo::engine
