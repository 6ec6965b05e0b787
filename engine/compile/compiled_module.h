// The compiled kernels of a graph, and their launches. Equal kernels are compiled once.
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
    std::size_t kernel = 0;            // index in `kernels`
    std::vector<std::string> tensors;  // the module's tensors, in the order of the parameters of the kernel's source
  };
  std::vector<Schedule> kernels;  // the distinct kernels, in the module's order
  std::vector<Launch> launches;   // one launch for each kernel of the module
};

/// Compiles all kernels of the module. `schedule_of` is called once for each distinct kernel.
CompiledModule compile(const ir::Module&, const std::function<Schedule(const ir::Program&)>& schedule_of);

}  // namespace deplo::engine
