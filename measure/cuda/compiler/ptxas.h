// Reads the log of the compiler about a kernel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo::measure::cuda {

/// What `ptxas -v` prints about one kernel. -1: not in the log.
struct PtxasLog {
  std::int64_t registers = -1, spill_bytes = -1, stack_bytes = -1, static_shared_bytes = -1;
  std::string warnings;  // warnings of NVRTC, one per line, except those about unused names
  std::string notes;     // messages of ptxas about the kernel: "C7519: warpgroup.arrive is injected …; C7520: …"
};

/// Parses a log. Accepts any text.
PtxasLog parse_log(std::string_view log, std::string_view entry);

}  // namespace deplo::measure::cuda
