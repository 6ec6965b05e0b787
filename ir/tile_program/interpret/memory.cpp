#include "ir/tile_program/interpret/memory.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/error.h"

namespace deplo::ir::tile_program {

double Array::number(std::int64_t at) const {
  const std::int64_t size = ir::bytes(element);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + at * size, static_cast<std::size_t>(size));
  if (element == DType::boolean) return bits != 0 ? 1 : 0;
  return is_integral(element) ? static_cast<double>(as_signed(bits, width(element))) : decode_float(bits, element);
}

std::vector<double> Array::numbers() const {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(elements()));
  for (std::int64_t i = 0; i < elements(); ++i) all.push_back(number(i));
  return all;
}

void Array::set(std::int64_t at, double value) {
  const std::int64_t size = ir::bytes(element);
  const std::uint64_t bits = is_integral(element) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                                  : encode_float(value, element);
  std::memcpy(bytes.data() + at * size, &bits, static_cast<std::size_t>(size));
}

Array make_array(std::string name, DType element, std::int64_t elements) {
  const int size = bytes(element);
  if (size == 0) throw Error(fmt::format("{}: expected elements of whole bytes, found {}", name, tile_name(element)));
  if (elements < 0 || elements > (std::int64_t{1} << 32) / size)
    throw Error(fmt::format("{}: expected at most 4 GiB, found {} elements of {}", name, elements, tile_name(element)));
  Array array;
  array.name = std::move(name);
  array.element = element;
  array.bytes.resize(static_cast<std::size_t>(elements * size));
  return array;
}

namespace exec {

void Memory::add_shadow(const Array& array) {
  const int granule = bytes(array.element);
  shadows_.push_back({granule, std::vector<Touch>(array.bytes.size() / static_cast<std::size_t>(granule) + 1)});
}

std::size_t Memory::add(Array array) {
  add_shadow(array);
  own_.push_back(std::move(array));
  return arrays_.size() + own_.size() - 1;
}

const Array* Memory::find(std::uint64_t address) const {
  const std::uint64_t number = (address >> apart) - 1;  // wraps around for address 0, so no array is found
  if (number < arrays_.size()) return &arrays_[number];
  return number < arrays_.size() + own_.size() ? &own_[number - arrays_.size()] : nullptr;
}

std::uint8_t* Memory::locate(std::uint64_t address, int size) {
  const Array* array = find(address);
  const std::uint64_t offset = address & ((1ULL << apart) - 1);
  if (array == nullptr || offset + static_cast<std::uint64_t>(size) > array->bytes.size()) return nullptr;
  return const_cast<Array*>(array)->bytes.data() + offset;
}

std::string Memory::outside(std::uint64_t address, DType e) const {
  if (address == 0) return "at the null pointer";
  // A negative offset gives an address at the end of the range before the array's.
  const Array* array = find(address);
  auto offset = static_cast<std::int64_t>(address & ((1ULL << apart) - 1));
  if (offset >= std::int64_t{1} << (apart - 1)) {
    array = find(address + (1ULL << apart));
    offset -= std::int64_t{1} << apart;
  }
  if (array == nullptr) return fmt::format("at {:#x}, where there is no array", address);
  const int element_bytes = bytes(array->element);
  if (element_bytes == bytes(e) && offset % element_bytes == 0)
    return fmt::format("element {} of {}, which has {}", offset / element_bytes, array->name, array->elements());
  return fmt::format("byte {} of {}, which has {}", offset, array->name, array->bytes.size());
}

std::string Memory::describe(std::uint64_t address) const {
  const Array* array = find(address);
  if (array == nullptr) return fmt::format("{:#x}", address);
  return fmt::format("{}[{}]", array->name,
                     (address & ((1ULL << apart) - 1)) / static_cast<std::uint64_t>(bytes(array->element)));
}

std::optional<std::uint64_t> Memory::read(std::uint64_t address, DType e) {
  const int size = bytes(e);
  const std::uint8_t* at = locate(address, size);
  if (at == nullptr) return std::nullopt;
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(size));
  return e == DType::boolean ? (bits != 0 ? 1ULL : 0ULL) : wrap(bits, width(e) == 19 ? 32 : width(e));
}

bool Memory::write(std::uint64_t address, DType e, std::uint64_t bits) {
  const auto size = static_cast<std::size_t>(bytes(e));
  std::uint8_t* at = locate(address, static_cast<int>(size));
  if (at == nullptr) return false;
  if (std::memcmp(at, &bits, size) != 0) ++changes_;
  std::memcpy(at, &bits, size);
  return true;
}

EventId Memory::note_one(const Access& access, const Events& events, Touch& touch) {
  EventId conflict = 0;
  const auto look = [&](EventId before) {
    if (before == 0 || conflict != 0) return;
    if (before == access.event ? access.writes && !access.atomic && before == touch.writer
                               : events.conflict(before, access.event, *access.past))
      conflict = before;
  };
  look(touch.writer);
  if (access.writes) {
    for (const EventId reader : touch.readers)
      if (reader != access.event) look(reader);
    touch = {access.event, {0, 0}};
    return conflict;
  }
  // Only two readers are remembered. A reader that happened before this one is no longer needed.
  const auto is_past = [&](EventId e) {
    return e == 0 || e == access.event || knows(*access.past, events[e].chain, events[e].index);
  };
  if (is_past(touch.readers[0]))
    touch.readers[0] = access.event;
  else if (!is_past(touch.readers[1]))
    touch.readers[0] = std::exchange(touch.readers[1], access.event);
  else
    touch.readers[1] = access.event;
  return conflict;
}

EventId Memory::note(const Access& access, const Events& events, std::uint64_t address, int size) {
  Shadow& shadow = shadows_.at((address >> apart) - 1);
  const std::uint64_t offset = address & ((1ULL << apart) - 1);
  const auto granule = static_cast<std::uint64_t>(shadow.granule);
  EventId conflict = 0;
  for (std::uint64_t g = offset / granule; g <= (offset + static_cast<std::uint64_t>(size) - 1) / granule; ++g)
    if (const EventId found = note_one(access, events, shadow.touches.at(g)); conflict == 0) conflict = found;
  return conflict;
}

}  // namespace exec
}  // namespace deplo::ir::tile_program
