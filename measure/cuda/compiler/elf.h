// Reads the sections of an ELF file in memory. Accepts any bytes, because a cubin may come from a damaged file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

/// A section. The views are into the file.
struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::string_view bytes;  // "" for a section without bytes in the file, such as shared memory
};

/// nullopt: not a little-endian ELF64 file, or its tables or sections exceed its end. System V ABI, "Object Files".
std::optional<std::vector<Section>> elf_sections(std::string_view file);

/// The name of symbol `index` of the table `.symtab`; "" if there is none.
std::string_view symbol_name(const std::vector<Section>&, std::uint32_t index);

/// The properties of one kernel that are stored with its machine code. -1 and "": not stored.
struct CubinFacts {
  std::int64_t registers = -1, stack_bytes = -1;
  std::int64_t shared_section_bytes = -1;  // from sm_90 on with the system's 1 KiB; 0: the kernel has no such section
  std::vector<std::size_t> parameters;     // the size in bytes of each launch parameter, in order
  std::string digest;                      // of all machine code and constants, and of nothing else
};

/// nullopt: not a cubin.
std::optional<CubinFacts> inspect_cubin(std::string_view cubin, std::string_view entry);

}  // namespace deplo::measure::cuda
