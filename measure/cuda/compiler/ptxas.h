// What the compiler's log says of a kernel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo::measure::cuda {

/// The lines of `ptxas -v` about one kernel. -1: they do not say.
struct PtxasLog {
  std::int64_t registers = -1, spill_bytes = -1, stack_bytes = -1, static_shared_bytes = -1;
  std::string warnings;  // NVRTC's, one a line, but for names that are not used
  std::string notes;     // ptxas's own messages about the kernel: "C7519: warpgroup.arrive is injected …; C7520: …"
};

/// Any text may be given.
PtxasLog parse_log(std::string_view log, std::string_view entry);

}  // namespace deplo::measure::cuda
