#include "measure/ptx/warp/registers.h"

namespace deplo::measure::ptx {

Registers::Registers(const Program& program) : registers_(program.register_bytes / sizeof(std::uint64_t)) {
  for (const Preset& preset : program.presets) {
    if (preset.bits == 1)
      predicate(preset.place) = preset.value != 0 ? all_lanes : 0;
    else
      with_register(preset.bits, [&]<class T>(Typed<T>) { lanes<T>(preset.place).fill(static_cast<T>(preset.value)); });
  }
}

}  // namespace deplo::measure::ptx
