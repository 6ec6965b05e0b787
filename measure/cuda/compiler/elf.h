// The sections of an ELF file in memory, for whatever bytes: a cubin comes from a compiler, or from a disk.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

/// Views into the file.
struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::string_view bytes;  // "" of a section that holds none in the file, such as shared memory
};

/// nullopt: no little-endian ELF64 file, or one whose tables or sections reach over its end. System V ABI, "Object
/// Files".
std::optional<std::vector<Section>> elf_sections(std::string_view file);

/// The name of symbol `index` of the table `.symtab`; "" where there is none.
std::string_view symbol_name(const std::vector<Section>&, std::uint32_t index);

/// What the machine code of one kernel says of itself. -1 and "": it does not say.
struct CubinFacts {
  std::int64_t registers = -1, stack_bytes = -1;
  std::int64_t shared_section_bytes = -1;  // from sm_90 on with the system's 1 KiB; 0 where the kernel has none
  std::vector<std::size_t> parameters;     // the bytes of each that a launch gives, in order
  std::string digest;                      // of all machine code and constants, and of nothing else
};

/// nullopt: no cubin.
std::optional<CubinFacts> inspect_cubin(std::string_view cubin, std::string_view entry);

}  // namespace deplo::measure::cuda
