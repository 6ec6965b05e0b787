// Reads the sections of an ELF file in memory: machine code of a GPU, or a shared library. Accepts any bytes, because
// the file may be damaged.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace deplo::measure {

/// One section of an ELF file. The views point into the file.
struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::string_view bytes;  // "" for a section without bytes in the file, such as shared memory
};

/// Returns the sections of a file; nullopt if it is not a little-endian ELF64 file, or if its tables or sections extend
/// past its end. System V ABI, "Object Files".
std::optional<std::vector<ElfSection>> elf_sections(std::string_view file);
/// Returns the section of this name; nullptr if there is none.
const ElfSection* find_section(const std::vector<ElfSection>&, std::string_view name);
/// Returns the name of symbol `index` of the table `.symtab`; "" if there is none.
std::string_view symbol_name(const std::vector<ElfSection>&, std::uint32_t index);

/// Returns the number at an offset. The whole number must lie within the bytes.
template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
/// Returns `size` bytes from offset `at` on; nullopt if they extend past the end.
std::optional<std::string_view> part_of(std::string_view bytes, std::uint64_t at, std::uint64_t size);

}  // namespace deplo::measure
