// Reads cubins, which are ELF files (measure/elf.h). Accepts any bytes, because a cubin may come from a damaged file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

/// The properties of one kernel that are stored with its machine code. -1 and "": not stored.
struct CubinFacts {
  std::int64_t registers = -1, stack_bytes = -1;
  std::int64_t code_bytes = -1;            // its instructions
  std::int64_t shared_section_bytes = -1;  // from sm_90 on with the system's 1 KiB; 0: the kernel has no such section
  std::vector<std::size_t> parameters;     // the size in bytes of each launch parameter, in order
  std::string digest;                      // of all machine code and constants, and of nothing else
};

/// nullopt: not a cubin.
std::optional<CubinFacts> inspect_cubin(std::string_view cubin, std::string_view entry);

}  // namespace deplo::measure::cuda
