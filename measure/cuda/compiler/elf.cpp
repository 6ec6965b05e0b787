#include "measure/cuda/compiler/elf.h"

#include "core/hash.h"
#include "measure/elf.h"

namespace deplo::measure::cuda {
namespace {

// The sections .nv.info and .nv.info.ENTRY consist of attributes of 4 bytes: format, attribute and a 2-byte value. In
// format 4 the value is the size of the data that follows. NVIDIA does not document this; the names are those that
// `cuobjdump -elf` prints.
constexpr std::uint8_t sized = 4, frame_size = 0x11, register_count = 0x2f;
constexpr std::uint8_t kernel_parameter = 0x17, kernel_parameter_v2 = 0x45;  // the second one from sm_90 on

/// Calls take(attribute, value) for each attribute; `value` is the data that follows it.
template <class F>
void each_attribute(std::string_view info, F take) {
  while (info.size() >= 4) {
    const auto format = number_at<std::uint8_t>(info, 0), attribute = number_at<std::uint8_t>(info, 1);
    const std::uint64_t size = format == sized ? number_at<std::uint16_t>(info, 2) : 0;
    const auto value = part_of(info, 4, size);
    if (!value) return;
    take(attribute, *value);
    info.remove_prefix(4 + size);
  }
}

void read_attributes(const std::vector<ElfSection>& sections, std::string_view info, std::string_view entry,
                     CubinFacts& facts) {
  each_attribute(info, [&](std::uint8_t attribute, std::string_view value) {
    if (value.size() != 8 || symbol_name(sections, number_at<std::uint32_t>(value, 0)) != entry) return;
    if (attribute == register_count) facts.registers = number_at<std::uint32_t>(value, 4);
    if (attribute == frame_size) facts.stack_bytes = number_at<std::uint32_t>(value, 4);
  });
}

/// Reads the parameters' sizes. Each parameter's data are 4 bytes, then 2 bytes with its number, 2 bytes with its
/// offset, and a word with its size: in the lower 16 bits (v2), or in the upper 14 bits.
void read_parameters(std::string_view info, CubinFacts& facts) {
  each_attribute(info, [&](std::uint8_t attribute, std::string_view value) {
    const bool v2 = attribute == kernel_parameter_v2;
    if ((attribute != kernel_parameter && !v2) || value.size() != 12) return;
    const std::size_t ordinal = number_at<std::uint16_t>(value, 4);
    const auto word = number_at<std::uint32_t>(value, 8);
    if (ordinal >= facts.parameters.size()) facts.parameters.resize(ordinal + 1);
    facts.parameters[ordinal] = v2 ? word & 0xffff : word >> 18;
  });
}

}  // namespace

std::optional<CubinFacts> inspect_cubin(std::string_view cubin, std::string_view entry) {
  constexpr std::uint16_t machine = 190;  // EM_CUDA
  const auto sections = elf_sections(cubin);
  if (!sections || number_at<std::uint16_t>(cubin, 18) != machine) return std::nullopt;
  CubinFacts facts;
  std::string code;
  for (const ElfSection& section : *sections) {
    // Other sections contain the command line and the compile time, so they are not part of the digest.
    if (section.name.starts_with(".text") || section.name.starts_with(".nv.constant")) {
      const std::uint64_t size = section.bytes.size();
      code.append(reinterpret_cast<const char*>(&size), sizeof size).append(section.bytes);
    }
  }
  if (const ElfSection* info = find_section(*sections, ".nv.info"))
    read_attributes(*sections, info->bytes, entry, facts);
  if (const ElfSection* info = find_section(*sections, ".nv.info." + std::string(entry)))
    read_parameters(info->bytes, facts);
  if (const ElfSection* text = find_section(*sections, ".text." + std::string(entry)))
    facts.code_bytes = static_cast<std::int64_t>(text->size);
  facts.digest = digest(code);
  return facts;
}

}  // namespace deplo::measure::cuda
