// Finds kernels that differ only in names.
#pragma once
#include <cstddef>
#include <vector>

#include "ir/program.h"

namespace deplo::engine {

/// For each kernel: the number of the first kernel that is equal to it except for names. That may be its own number.
std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels);

}  // namespace deplo::engine
