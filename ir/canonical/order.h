// Puts independent statements in one fixed order, regardless of their original order and names. Private to
// ir/canonical.
#pragma once
#include "ir/program.h"

namespace deplo::ir {

/// Whether a and b may be swapped in op(a, b, …): true for commutative operations and for the product of an fma.
bool product_commutes(Op);

/// Reorders the statements of each body. Statements that depend on each other keep their order. `loop` is Loop IR.
void order_statements(Program& loop);

}  // namespace deplo::ir
