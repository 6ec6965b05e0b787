#include "ir/interpret/executions.h"

#include <cmath>

#include "ir/hardware/mma.h"
#include "ir/walk.h"

namespace deplo::ir {

namespace {

/// Returns the count for a statement without a body: 1, or the number of products that a matrix instruction computes
/// per thread.
double executions_of_one(const Stmt& stmt) {
  const auto* product = stmt.as<Mma>();
  const auto* wide = stmt.as<Wgmma>();
  if (product == nullptr && wide == nullptr) return 1;
  const mma::Atom* atom = mma::find_atom(product != nullptr ? product->atom : wide->atom);
  CHECK(atom != nullptr);
  return static_cast<double>(atom->m * atom->n * atom->k / (gpu::warp * atom->warps));
}

}  // namespace

double executions(const Body& body) {
  double count = 0;
  for (const Stmt& stmt : body) {
    double times = 1;
    if (const auto* loop = stmt.as<Loop>())
      times = std::ceil(static_cast<double>(loop->axis.extent) / static_cast<double>(loop->step));
    if (const auto* tile = stmt.as<Tile>())
      for (const Axis& axis : tile->axes) times *= static_cast<double>(axis.extent);
    const Body* inner = inner_body(stmt);
    count += inner == nullptr ? executions_of_one(stmt) : times * executions(*inner);
  }
  return count;
}

}  // namespace deplo::ir
