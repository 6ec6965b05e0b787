// Checks of the types of values: lanes, constants, and the arguments of operations. Private to ir/verify.
#pragma once
#include "ir/verify/names.h"

namespace deplo::ir::verifier {

void check_lanes(int lanes);
void check_type(const Type&, Level);  // checks the type of a value
/// Checks that the argument is a constant or a value of the expected type that may be read here. A scalar value is
/// broadcast. `horizontal`: the argument is a vector that the operation reduces to a scalar.
void check_arg(Names&, const Arg&, const Type& expected, bool horizontal = false);
/// Checks that the operation takes these arguments and returns this type.
void check_operands(Names&, const Assign&);

}  // namespace deplo::ir::verifier
