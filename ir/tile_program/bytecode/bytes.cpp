#include "ir/tile_program/bytecode/bytes.h"

#include <fmt/format.h>

#include "core/error.h"
#include "ir/types/float_format.h"

namespace deplo::ir::tile_program::bytecode {

void Bytes::fail_at(std::uint64_t position, const std::string& message) const {
  throw Error(fmt::format("{}: byte {}: {}", where_, position, message));
}

std::uint8_t Bytes::byte(std::string_view what) {
  if (done()) fail(fmt::format("expected {}, found the end of its part", what));
  return static_cast<std::uint8_t>(data_[at_++]);
}

std::uint64_t Bytes::fixed(int bytes, std::string_view what) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(byte(what)) << (8 * i);
  return value;
}

std::uint64_t Bytes::varint(std::string_view what) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte(what);
    value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
    if ((next & 0x80) == 0) return value;
  }
  fail(fmt::format("expected {} of at most 64 bits, found a longer number", what));
}

std::int64_t Bytes::zigzag(std::string_view what) {
  const std::uint64_t value = varint(what);
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::uint64_t Bytes::index(std::uint64_t limit, std::string_view what) {
  const std::uint64_t at = position(), value = varint(what);
  if (value >= limit) fail_at(at, fmt::format("expected {} below {}, found {}", what, limit, value));
  return value;
}

std::size_t Bytes::count(std::size_t bytes_each, std::string_view what) {
  const std::uint64_t at = position(), value = varint(what);
  if (value > left() / bytes_each)
    fail_at(at,
            fmt::format("expected at most {} {} in the remaining bytes, found {}", left() / bytes_each, what, value));
  return value;
}

std::vector<std::int64_t> Bytes::integers(int bytes_each, std::string_view what) {
  std::vector<std::int64_t> list(count(static_cast<std::size_t>(bytes_each), what));
  for (std::int64_t& value : list) value = as_signed(fixed(bytes_each, what), 8 * bytes_each);
  return list;
}

Bytes Bytes::part(std::uint64_t size, std::string_view what) {
  if (size > left()) fail(fmt::format("expected {} bytes of {}, found {}", size, what, left()));
  const Bytes part(data_.substr(at_, size), where_, position());
  at_ += size;
  return part;
}

void Bytes::align(std::uint64_t alignment) {
  const std::uint64_t past = at_ % alignment;
  if (past != 0) part(alignment - past, "padding");
}

std::vector<Bytes> read_table(Bytes& from, int bytes_each, std::string_view what) {
  const std::size_t rows = from.count(static_cast<std::size_t>(bytes_each), what);
  std::vector<Bytes> table;
  if (rows == 0) return table;
  from.align(static_cast<std::uint64_t>(bytes_each));
  std::vector<std::uint64_t> begins;
  for (std::size_t i = 0; i < rows; ++i) begins.push_back(from.fixed(bytes_each, what));
  begins.push_back(from.left());
  if (begins.front() > from.left())
    from.fail(fmt::format("expected {} within its section, found byte {} of it", what, begins.front()));
  from.part(begins.front(), what);
  for (std::size_t i = 0; i < rows; ++i) {
    if (begins[i + 1] < begins[i])
      from.fail(fmt::format("expected {} in ascending order, found {} after {}", what, begins[i + 1], begins[i]));
    table.push_back(from.part(begins[i + 1] - begins[i], what));
  }
  return table;
}

}  // namespace deplo::ir::tile_program::bytecode
