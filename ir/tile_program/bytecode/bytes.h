// Reads numbers from a position in a file of bytecode. Private to this folder.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::ir::tile_program::bytecode {

/// A part of a file. A read beyond the part throws Error `WHERE: byte N: expected …, found …`.
class Bytes {
 public:
  Bytes(std::string_view data, std::string_view where, std::uint64_t offset = 0)
      : data_(data), where_(where), offset_(offset) {}

  bool done() const { return at_ == data_.size(); }
  std::size_t left() const { return data_.size() - at_; }
  std::uint64_t position() const { return offset_ + at_; }  // from the beginning of the file

  std::uint8_t byte(std::string_view what);
  std::uint64_t fixed(int bytes, std::string_view what);  // little endian
  std::uint64_t varint(std::string_view what);            // 7 bits per byte, lowest bits first
  std::int64_t zigzag(std::string_view what);             // a varint whose lowest bit is the sign
  /// Reads a varint and checks that it is below `limit`.
  std::uint64_t index(std::uint64_t limit, std::string_view what);
  /// Reads a count (a varint) and checks that count × bytes_each bytes remain.
  std::size_t count(std::size_t bytes_each, std::string_view what);
  std::vector<std::int64_t> integers(int bytes_each, std::string_view what);  // reads a count, then signed integers
  Bytes part(std::uint64_t size, std::string_view what);
  void align(std::uint64_t alignment);
  std::string_view rest() const { return data_.substr(at_); }

  /// Throws Error with the current position.
  [[noreturn]] void fail(const std::string& message) const { fail_at(position(), message); }
  [[noreturn]] void fail_at(std::uint64_t position, const std::string& message) const;

 private:
  std::string_view data_, where_;
  std::uint64_t offset_ = 0;
  std::size_t at_ = 0;
};

/// Reads a table of rows of different lengths. The file has the number of rows, the offset of each row, and then the
/// bytes of all rows.
std::vector<Bytes> read_table(Bytes& from, int bytes_each, std::string_view what);

}  // namespace deplo::ir::tile_program::bytecode
