// Reads cubins, which are ELF files (measure/elf.h). Accepts any bytes, because a cubin may come from a damaged file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

/// The properties of one kernel that are stored with its machine code. -1 or "": not stored.
struct CubinFacts {
  std::int64_t registers = -1, stack_bytes = -1;
  std::int64_t code_bytes = -1;         // size of its instructions
  std::vector<std::size_t> parameters;  // size in bytes of each launch parameter, in order
  std::string digest;                   // digest of all machine code and constants, and of nothing else
};

/// Returns the facts about one kernel of a cubin; nullopt if the bytes are not a cubin.
std::optional<CubinFacts> inspect_cubin(std::string_view cubin, std::string_view entry);

}  // namespace deplo::measure::cuda
