#include "measure/elf.h"

#include <bit>

namespace deplo::measure {

std::optional<std::string_view> part_of(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.substr(at, size);
}

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t header_size = 64, entry_size = 64;  // Elf64_Ehdr, Elf64_Shdr
constexpr std::uint32_t nobits = 8;                         // SHT_NOBITS

// Returns the text from `at` up to its terminating 0; "" if `at` is past the table's end.
std::string_view text_at(std::string_view table, std::uint64_t at) {
  const auto rest = part_of(table, at, 0) ? table.substr(at) : std::string_view();
  return rest.substr(0, rest.find('\0'));
}

// Reads a section header, Elf64_Shdr: name, type, flags, address, offset, size, … Returns nullopt if the section
// extends past the file's end.
std::optional<ElfSection> section_at(std::string_view file, std::string_view header) {
  ElfSection section;
  section.type = number_at<std::uint32_t>(header, 4);
  section.size = number_at<std::uint64_t>(header, 32);
  if (section.type == nobits) return section;
  const auto bytes = part_of(file, number_at<std::uint64_t>(header, 24), section.size);
  if (!bytes) return std::nullopt;
  section.bytes = *bytes;
  return section;
}

}  // namespace

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) {
  for (const ElfSection& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

std::optional<std::vector<ElfSection>> elf_sections(std::string_view file) {
  constexpr std::string_view magic =
      "\x7f"
      "ELF\x02\x01";  // 64 bits, little-endian
  if (file.size() < header_size || !file.starts_with(magic)) return std::nullopt;
  const auto count = number_at<std::uint16_t>(file, 60), names = number_at<std::uint16_t>(file, 62);
  const auto headers = part_of(file, number_at<std::uint64_t>(file, 40), count * entry_size);
  if (number_at<std::uint16_t>(file, 58) != entry_size || !headers || names >= count) return std::nullopt;
  std::vector<ElfSection> sections;
  for (std::size_t i = 0; i < count; ++i) {
    const auto section = section_at(file, headers->substr(i * entry_size, entry_size));
    if (!section) return std::nullopt;
    sections.push_back(*section);
  }
  for (std::size_t i = 0; i < count; ++i)
    sections[i].name = text_at(sections[names].bytes, number_at<std::uint32_t>(*headers, i * entry_size));
  return sections;
}

std::string_view symbol_name(const std::vector<ElfSection>& sections, std::uint32_t index) {
  constexpr std::uint64_t symbol_size = 24;  // Elf64_Sym
  const ElfSection* const symbols = find_section(sections, ".symtab");
  const ElfSection* const names = find_section(sections, ".strtab");
  if (symbols == nullptr || names == nullptr) return "";
  const auto symbol = part_of(symbols->bytes, index * symbol_size, symbol_size);
  return symbol ? text_at(names->bytes, number_at<std::uint32_t>(*symbol, 0)) : "";
}

}  // namespace deplo::measure
