#include "measure/ptx/warp/registers.h"

namespace deplo::measure::ptx {

Registers::Registers(const Program& program) : registers_(program.register_bytes / sizeof(std::uint64_t)) {
  for (const Preset& preset : program.presets) {
    if (preset.bits == 1)
      predicate(preset.place) = preset.value != 0 ? all_lanes : 0;
    else if (preset.bits == 16)
      lanes<std::uint16_t>(preset.place).fill(static_cast<std::uint16_t>(preset.value));
    else if (preset.bits == 32)
      lanes<std::uint32_t>(preset.place).fill(static_cast<std::uint32_t>(preset.value));
    else
      lanes<std::uint64_t>(preset.place).fill(preset.value);
  }
}

}  // namespace deplo::measure::ptx
