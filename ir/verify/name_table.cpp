#include "ir/verify/name_table.h"

#include <cstring>

namespace deplo::ir {
namespace {

// Names are short: eight bytes at a time, multiplied by a random odd constant.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t h = name.size();
  while (!name.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = name.size() < 8 ? name.size() : 8;
    for (std::size_t i = 0; i < n; ++i)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i])) << (8 * i);
    h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 32;
    name.remove_prefix(n);
  }
  return h;
}

}  // namespace

std::size_t NameTable::slot(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(name) & mask;
  while (slots_[i] != 0 && entries_[slots_[i] - 1].name != name) i = (i + 1) & mask;
  return i;
}

int NameTable::add(std::string_view name, NameEntry::Kind kind) {
  if (2 * entries_.size() >= slots_.size()) {
    slots_.assign(4 * slots_.size(), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[slot(entries_[i].name)] = static_cast<std::uint32_t>(i + 1);
  }
  NameEntry& e = entries_.emplace_back();
  e.name = name;
  e.kind = kind;
  slots_[slot(name)] = static_cast<std::uint32_t>(entries_.size());
  return static_cast<int>(entries_.size()) - 1;
}

void NameTable::push_extent(NameEntry& buffer, std::int64_t extent) {
  if (buffer.rank++ == 0) buffer.shape = static_cast<std::uint32_t>(extents_.size());
  extents_.push_back(extent);
}

}  // namespace deplo::ir
