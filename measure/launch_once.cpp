#include "measure/launch_once.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::measure {

Result<double> launch_once(Device& device, const KernelCode& code, Contents& contents, bool timed) {
  CHECK(contents.size() == code.kernel.buffers.size());
  const auto executable = device.build(code);
  if (!executable.ok()) return executable.failure();
  const auto memory = device.allocate(code.kernel.buffers);
  for (std::size_t i = 0; i < contents.size(); ++i)
    if (!contents[i].empty()) memory->write_bytes(i, contents[i]);
  Result<double> time = 0.0;
  if (timed)
    time = executable.value()->launch(*memory, code.source.blocks);
  else if (const auto failed = executable.value()->execute(*memory, code.source.blocks))
    time = *failed;
  if (!time.ok()) return time.failure();
  if (const auto overrun = memory->overrun()) throw Error(*overrun);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (contents[i].empty()) continue;
    const std::vector<std::uint8_t> bytes = memory->read_bytes(i);  // whole elements, so maybe longer
    std::copy_n(bytes.begin(), contents[i].size(), contents[i].begin());
  }
  return time;
}

}  // namespace deplo::measure
