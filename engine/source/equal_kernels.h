// Finds kernels that differ only in names.
#pragma once
#include <cstddef>
#include <vector>

#include "ir/program.h"

namespace deplo::engine {

/// Returns, for each kernel, the index of the first kernel that is equal to it except for names. It may be the kernel's
/// own index.
std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels);

}  // namespace deplo::engine
