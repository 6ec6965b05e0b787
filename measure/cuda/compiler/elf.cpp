#include "measure/cuda/compiler/elf.h"

#include <bit>
#include <cstring>

#include "core/hash.h"

namespace deplo::measure::cuda {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t header_size = 64, entry_size = 64;  // Elf64_Ehdr, Elf64_Shdr
constexpr std::uint32_t nobits = 8;                         // SHT_NOBITS

template <class T>
T number(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// nullopt where it reaches over the end.
std::optional<std::string_view> part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.substr(at, size);
}

// Up to its 0; "" where it starts behind the end.
std::string_view text_at(std::string_view table, std::uint64_t at) {
  const auto rest = part(table, at, 0) ? table.substr(at) : std::string_view();
  return rest.substr(0, rest.find('\0'));
}

// Elf64_Shdr: name, type, flags, address, offset, size, …
std::optional<Section> section_at(std::string_view file, std::string_view header) {
  Section section;
  section.type = number<std::uint32_t>(header, 4);
  section.size = number<std::uint64_t>(header, 32);
  if (section.type == nobits) return section;
  const auto bytes = part(file, number<std::uint64_t>(header, 24), section.size);
  if (!bytes) return std::nullopt;
  section.bytes = *bytes;
  return section;
}

const Section* find(const std::vector<Section>& sections, std::string_view name) {
  for (const Section& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

}  // namespace

std::optional<std::vector<Section>> elf_sections(std::string_view file) {
  constexpr std::string_view magic =
      "\x7f"
      "ELF\x02\x01";  // of 64 bits, little-endian
  if (file.size() < header_size || !file.starts_with(magic)) return std::nullopt;
  const auto count = number<std::uint16_t>(file, 60), names = number<std::uint16_t>(file, 62);
  const auto headers = part(file, number<std::uint64_t>(file, 40), count * entry_size);
  if (number<std::uint16_t>(file, 58) != entry_size || !headers || names >= count) return std::nullopt;
  std::vector<Section> sections;
  for (std::size_t i = 0; i < count; ++i) {
    const auto section = section_at(file, headers->substr(i * entry_size, entry_size));
    if (!section) return std::nullopt;
    sections.push_back(*section);
  }
  for (std::size_t i = 0; i < count; ++i)
    sections[i].name = text_at(sections[names].bytes, number<std::uint32_t>(*headers, i * entry_size));
  return sections;
}

std::string_view symbol_name(const std::vector<Section>& sections, std::uint32_t index) {
  constexpr std::uint64_t symbol_size = 24;  // Elf64_Sym
  const Section* const symbols = find(sections, ".symtab");
  const Section* const names = find(sections, ".strtab");
  if (symbols == nullptr || names == nullptr) return "";
  const auto symbol = part(symbols->bytes, index * symbol_size, symbol_size);
  return symbol ? text_at(names->bytes, number<std::uint32_t>(*symbol, 0)) : "";
}

namespace {

// Sections .nv.info and .nv.info.ENTRY: attributes of 4 bytes (format, attribute, value), in format 4 the value is the
// size of what follows. Not documented; the names are those that cuobjdump -elf prints.
constexpr std::uint8_t sized = 4, frame_size = 0x11, register_count = 0x2f;
constexpr std::uint8_t kernel_parameter = 0x17, kernel_parameter_v2 = 0x45;  // the latter from sm_90 on

/// `take` is given each attribute, and the bytes that follow it.
template <class F>
void each_attribute(std::string_view info, F take) {
  while (info.size() >= 4) {
    const auto format = number<std::uint8_t>(info, 0), attribute = number<std::uint8_t>(info, 1);
    const std::uint64_t size = format == sized ? number<std::uint16_t>(info, 2) : 0;
    const auto value = part(info, 4, size);
    if (!value) return;
    take(attribute, *value);
    info.remove_prefix(4 + size);
  }
}

void read_attributes(const std::vector<Section>& sections, std::string_view info, std::string_view entry,
                     CubinFacts& facts) {
  each_attribute(info, [&](std::uint8_t attribute, std::string_view value) {
    if (value.size() != 8 || symbol_name(sections, number<std::uint32_t>(value, 0)) != entry) return;
    if (attribute == register_count) facts.registers = number<std::uint32_t>(value, 4);
    if (attribute == frame_size) facts.stack_bytes = number<std::uint32_t>(value, 4);
  });
}

/// Of each: 4 bytes, then its number, its place and its size, which is in the upper 14 bits of a word, or its lower 16.
void read_parameters(std::string_view info, CubinFacts& facts) {
  each_attribute(info, [&](std::uint8_t attribute, std::string_view value) {
    const bool v2 = attribute == kernel_parameter_v2;
    if ((attribute != kernel_parameter && !v2) || value.size() != 12) return;
    const std::size_t ordinal = number<std::uint16_t>(value, 4);
    const auto word = number<std::uint32_t>(value, 8);
    if (ordinal >= facts.parameters.size()) facts.parameters.resize(ordinal + 1);
    facts.parameters[ordinal] = v2 ? word & 0xffff : word >> 18;
  });
}

}  // namespace

std::optional<CubinFacts> inspect_cubin(std::string_view cubin, std::string_view entry) {
  constexpr std::uint16_t machine = 190;  // EM_CUDA
  const auto sections = elf_sections(cubin);
  if (!sections || number<std::uint16_t>(cubin, 18) != machine) return std::nullopt;
  CubinFacts facts;
  std::string code;
  for (const Section& section : *sections) {
    // Cubins name their command line and the time that they took elsewhere.
    if (section.name.starts_with(".text") || section.name.starts_with(".nv.constant")) {
      const std::uint64_t size = section.bytes.size();
      code.append(reinterpret_cast<const char*>(&size), sizeof size).append(section.bytes);
    }
  }
  if (const Section* info = find(*sections, ".nv.info")) read_attributes(*sections, info->bytes, entry, facts);
  if (const Section* info = find(*sections, ".nv.info." + std::string(entry))) read_parameters(info->bytes, facts);
  const Section* const shared = find(*sections, ".nv.shared." + std::string(entry));
  facts.shared_section_bytes = shared == nullptr ? 0 : static_cast<std::int64_t>(shared->size);
  facts.digest = digest(code);
  return facts;
}

}  // namespace deplo::measure::cuda
