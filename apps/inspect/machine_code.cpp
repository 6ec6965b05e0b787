#include "apps/inspect/machine_code.h"

#include <fmt/format.h>

#include "apps/cli/columns.h"
#include "core/error.h"
#include "measure/cuda/compiler/compile.h"

namespace deplo::apps {
namespace {

template <class T>
T built(Result<T> result, const std::string& place) {
  if (!result.ok())
    throw Error(fmt::format("{}: {}: {}", place, status_name(result.failure().status), result.failure().message));
  return std::move(result.value());
}

}  // namespace

std::string machine_code(const ir::KernelSource& source, const Target& target, const std::string& level,
                         const std::string& place) {
  using namespace measure::cuda;
  if (level == "ptx") return built(compile_ptx(source, target.name), place);
  return built(compile_cubin(source, target.name), place).code;
}

void ResourceTable::add(const std::string& name, const ir::KernelSource& source) {
  using namespace measure::cuda;
  const Cubin cubin = built(compile_cubin(source, target_.name), name);
  const measure::Resources r = built(with_occupancy(cubin.resources, source, target_), name);
  rows_.push_back({name, std::to_string(source.blocks), std::to_string(source.threads), std::to_string(r.registers),
                   std::to_string(r.spill_bytes), std::to_string(r.stack_bytes), std::to_string(r.static_shared_bytes),
                   std::to_string(r.dynamic_shared_bytes), fmt::format("{:.1f}%", 100 * r.occupancy), r.limiter});
}

std::string ResourceTable::print(std::size_t width) const {
  std::vector<std::vector<std::string>> rows{{target_.name, "blocks", "threads", "registers", "spilled", "stack",
                                              "static shared", "dynamic shared", "occupancy", "limited by"}};
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  return align_columns(rows, {false, true, true, true, true, true, true, true, true, false}, width);
}

}  // namespace deplo::apps
