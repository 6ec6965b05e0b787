// A graph's kernels, each of the equal ones compiled once, and how they are launched.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/compile/tuned.h"
#include "ir/module.h"

namespace deplo::engine {

struct CompiledModule {
  struct Launch {
    std::size_t kernel = 0;            // of `kernels`
    std::vector<std::string> tensors;  // of the module, in the order of the parameters of the kernel's source
  };
  std::vector<Schedule> kernels;  // of the first of equal ones, in the module's order
  std::vector<Launch> launches;   // one for each kernel of the module
};

/// `schedule_of` is asked once for each of the kernels that differ.
CompiledModule compile(const ir::Module&, const std::function<Schedule(const ir::Program&)>& schedule_of);

}  // namespace deplo::engine
