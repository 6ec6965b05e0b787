#include "apps/inspect/launch_comment.h"

#include <fmt/format.h>

#include "core/text/text.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/opencl/opencl.h"

namespace deplo::apps {
namespace {

std::string names_of(const std::vector<std::size_t>& buffers, const ir::Program& kernel) {
  return join(buffers, ", ", [&](std::size_t i) { return kernel.buffers[i].name; });
}

// Returns the maps' names in the order of the parameters, which is that of KernelSource::tensor_maps.
std::vector<std::string> map_names(const ir::Program& kernel) {
  std::vector<std::string> names;
  for (const ir::Stmt& stmt : kernel.body)
    if (const auto* descriptor = stmt.as<ir::TmaDescriptor>()) names.push_back(descriptor->name);
  return names;
}

}  // namespace

std::string launch_comment(const measure::KernelCode& code, const Target& target) {
  const ir::KernelSource& source = code.source;
  if (code.launch) return "";  // the text itself says it
  const std::string options =
      target.dialect == Dialect::opencl
          ? measure::opencl_build_options
          : join(measure::cuda::Nvrtc::code_options(measure::cuda::architecture_of(source, target.name)), " ");
  const std::vector<std::string> maps = map_names(code.kernel);
  std::vector<std::string> parameters;
  for (const ir::Buffer& buffer : code.kernel.buffers)
    parameters.push_back(fmt::format("{} {}[{}]", buffer.name, name(buffer.dtype), join(buffer.shape, ", ")));
  parameters.insert(parameters.end(), maps.begin(), maps.end());
  std::string text =
      fmt::format("// launch: {} of {}", counted(source.blocks, "block"), counted(source.threads, "thread"));
  if (source.dynamic_shared) text += fmt::format(", {} bytes of dynamic shared memory", source.shared_bytes);
  text += fmt::format("; {}({})\n", source.entry, join(parameters, ", "));
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const ir::KernelSource::TensorMap& map = source.tensor_maps[i];
    text += fmt::format("// tensor map {}: {}, strides {}, box {}, swizzle {} bytes\n", maps[i],
                        code.kernel.buffers[map.buffer].name, join(map.strides, " "), join(map.box, " "), map.swizzle);
  }
  if (!source.zeroed.empty()) text += fmt::format("// 0 before the launch: {}\n", names_of(source.zeroed, code.kernel));
  if (!source.restored.empty())
    text += fmt::format("// changed in place: {}\n", names_of(source.restored, code.kernel));
  return text + fmt::format("// compile with: {}\n", options);
}

}  // namespace deplo::apps
