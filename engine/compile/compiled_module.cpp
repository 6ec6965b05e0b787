#include "engine/compile/compiled_module.h"

#include "core/mapped.h"
#include "engine/loop/kernel.h"
#include "ir/canonical/canonical.h"

namespace deplo::engine {
namespace {

/// Returns the names of `kernel`'s buffers in the order of the parameters of `schedule`. The schedule was found for
/// `equal`, a kernel that differs from `kernel` in names only.
std::vector<std::string> parameters(const ir::Program& kernel, const ir::Program& equal, const Schedule& schedule) {
  const auto own = corresponding_buffers(ir::canonical(kernel), ir::canonical(equal));
  return mapped(schedule.arguments, [&](std::size_t buffer) { return kernel.buffers[own[buffer]].name; });
}

}  // namespace

CompiledModule compile(const ir::Module& module, const std::function<Schedule(const ir::Program&)>& schedule_of) {
  const std::vector<std::size_t> first = first_equals(module.kernels);
  CompiledModule compiled;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    const ir::Program& kernel = module.kernels[i];
    std::size_t number = compiled.kernels.size();
    if (first[i] == i)
      compiled.kernels.push_back(schedule_of(kernel));
    else
      number = compiled.launches[first[i]].kernel;
    compiled.launches.push_back({number, parameters(kernel, module.kernels[first[i]], compiled.kernels[number])});
  }
  return compiled;
}

}  // namespace deplo::engine
