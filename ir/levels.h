// At which levels a statement may stand.
#pragma once
#include <type_traits>

#include "ir/program.h"

namespace deplo::ir {

template <class T, class... List>
inline constexpr bool one_of = (std::is_same_v<T, List> || ...);

/// Of Kernel IR alone are all that are not named here.
template <class T>
constexpr bool permitted_at(Level level) {
  if (one_of<T, Loop, If, Load, Index, Assign, Accum, Write>) return true;
  if (one_of<T, Stage, AsyncWait, Combine>) return level == Level::tile;
  if (one_of<T, Tile, Prefetch>) return level != Level::loop;
  return level == Level::kernel;
}

}  // namespace deplo::ir
