// Names for copies of statements, because a value may have only one definition in a kernel. Private to
// rules/materialize.
#pragma once
#include "rules/analysis/names.h"
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Returns a new name for each value that the body defines. Accumulators that start before the body keep their names.
NewNames names_of_copy(const ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
