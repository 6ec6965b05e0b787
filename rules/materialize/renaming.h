// Renames copies of statements, because a value may have only one definition in a kernel. Private to rules/materialize.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

using NewNames = std::map<std::string, std::string, std::less<>>;

/// Renames values and accumulators, both their definitions and their uses.
void rename(ir::Body&, const NewNames&);
/// Returns a new name for each value that the body defines. Accumulators that start before the body keep their names.
NewNames names_of_copy(const ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
