// Private to canonical.cpp: independent statements in one order, whatever order and names they come in.
#pragma once
#include "ir/program.h"

namespace deplo::ir {

/// Whether a and b may change places in op(a, b, …): the commutative operations and the product of an fma.
bool product_commutes(Op);

/// Reorders the statements of each body, keeping what depends on one another in order. `loop` is Loop IR.
void order_statements(Program& loop);

}  // namespace deplo::ir
