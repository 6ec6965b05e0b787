#include "apps/cli/compile_levels.h"

namespace deplo::apps {

std::vector<std::string> compile_levels(engine::SourceKind kind) {
  std::vector<std::string> levels{"loop", "tile", "kernel", "cuda", "opencl", "ptx", "cubin", "sass"};
  if (kind == engine::SourceKind::space) return {"opencl", "cuda", "ptx", "cubin", "sass"};
  if (kind < engine::SourceKind::kernel) levels.insert(levels.begin(), {"torch", "tensor"});
  if (kind == engine::SourceKind::tile) levels.insert(levels.begin(), "tile-program");
  return levels;
}

}  // namespace deplo::apps
