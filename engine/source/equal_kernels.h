// Kernels that differ in nothing but names.
#pragma once
#include <cstddef>
#include <vector>

#include "ir/program.h"

namespace deplo::engine {

/// For every kernel the number of the first that is equal to it but for names; its own where it is the first.
std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels);

}  // namespace deplo::engine
