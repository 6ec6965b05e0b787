#include "measure/run_blocks.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace deplo::measure {

Result<double> run_blocks(Device& device, const rules::BlockKernel& kernel,
                          std::vector<ir::tile_program::Array>& arrays, bool timed) {
  const auto executable = device.build({kernel.kernel, kernel.source});
  if (!executable.ok()) return executable.failure();
  const auto memory = device.allocate(kernel.kernel.buffers);
  for (std::size_t i = 0; i < arrays.size(); ++i) memory->write_bytes(i, arrays[i].bytes);
  for (const auto& initial : kernel.initial) memory->write_bytes(initial.buffer, initial.bytes);
  Result<double> time = 0.0;
  if (timed)
    time = executable.value()->launch(*memory, kernel.source.blocks);
  else if (const auto failed = executable.value()->execute(*memory, kernel.source.blocks))
    time = *failed;
  if (!time.ok()) return time.failure();
  if (const auto overrun = memory->overrun()) throw Error(*overrun);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<std::uint8_t> bytes = memory->read_bytes(i);  // of an empty array one element
    std::copy_n(bytes.begin(), arrays[i].bytes.size(), arrays[i].bytes.begin());
  }
  if (kernel.assertion_buffer >= 0) {
    const std::vector<std::uint8_t> failed = memory->read_bytes(static_cast<std::size_t>(kernel.assertion_buffer));
    std::uint32_t number = 0;
    std::memcpy(&number, failed.data(), sizeof number);
    if (number != 0) throw Error(kernel.assertions.at(number - 1));
  }
  return time;
}

}  // namespace deplo::measure
