// Copies of statements under new names: a value has one definition in a kernel. Private to rules/materialize.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

using NewNames = std::map<std::string, std::string, std::less<>>;

/// Replaces values and accumulators, where they are defined and where they are read.
void rename(ir::Body&, const NewNames&);
/// A new name for each value that the body defines. Accumulators that start before it have none.
NewNames names_of_copy(const ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
