#include "ir/interpret/executions.h"

#include <cmath>

#include "ir/walk.h"

namespace deplo::ir {

double executions(const Body& body) {
  double count = 0;
  for (const Stmt& stmt : body) {
    double times = 1;
    if (const auto* loop = stmt.as<Loop>())
      times = std::ceil(static_cast<double>(loop->axis.extent) / static_cast<double>(loop->step));
    if (const auto* tile = stmt.as<Tile>())
      for (const Axis& axis : tile->axes) times *= static_cast<double>(axis.extent);
    const Body* inner = inner_body(stmt);
    count += inner == nullptr ? 1 : times * executions(*inner);
  }
  return count;
}

}  // namespace deplo::ir
