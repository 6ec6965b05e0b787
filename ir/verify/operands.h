// Types of values: lanes, constants and what an operation takes. Private to ir/verify.
#pragma once
#include "ir/verify/names.h"

namespace deplo::ir::verifier {

void check_lanes(int lanes);
void check_type(const Type&, Level);  // of a value
/// A constant or a value that may be read here, of the expected type; a scalar is broadcast. Horizontal operations make
/// a scalar of a vector.
void check_arg(Names&, const Arg&, const Type& expected, bool horizontal = false);
/// The operation takes these arguments and gives this type.
void check_operands(Names&, const Assign&);

}  // namespace deplo::ir::verifier
