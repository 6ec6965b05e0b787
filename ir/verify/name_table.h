// Every name of a program with what it stands for: a hash table over views into the program. Private to the verifier.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/simplify/strided.h"
#include "ir/stmt.h"

namespace deplo::ir {

struct NameEntry {
  enum class Kind : std::uint8_t { buffer, shared, value, accumulator, axis, barrier, descriptor };
  std::string_view name;
  Kind kind = Kind::value;
  Type type;                // of a value, an accumulator or an element
  Op op = Op::add;          // of an accumulator
  Bind bind = Bind::free;   // of an axis
  bool writable = false;    // of a buffer
  bool unit_stride = true;  // of the last dimension of a buffer
  bool varies = false;      // an axis that differs between the threads of a block
  bool active = false;      // an axis that is in scope
  int body = 0;  // where it is visible; of an accumulator above Kernel IR: the innermost body that holds its uses
  std::uint32_t shape = 0, rank = 0;  // of a buffer: its extents in the table's pool
  std::uint32_t stamp = 0;            // the last index list that held this axis
  Strided range;                      // of an axis
  const Stmt* declared = nullptr;     // the statement that defines the name; of buffers of the program: none
};

class NameTable {
 public:
  NameTable() : slots_(256, 0) { entries_.reserve(128); }

  static constexpr int none = -1;
  int find(std::string_view name) const { return static_cast<int>(slots_[slot(name)]) - 1; }
  /// The name must be new. Invalidates references, not numbers.
  int add(std::string_view name, NameEntry::Kind kind);
  NameEntry& operator[](int i) { return entries_[static_cast<std::size_t>(i)]; }
  const NameEntry& operator[](int i) const { return entries_[static_cast<std::size_t>(i)]; }

  void push_extent(NameEntry& buffer, std::int64_t extent);
  std::int64_t extent(const NameEntry& buffer, std::size_t dim) const { return extents_[buffer.shape + dim]; }

 private:
  std::size_t slot(std::string_view name) const;  // of the name, or the empty one where it belongs
  std::vector<NameEntry> entries_;
  std::vector<std::uint32_t> slots_;  // number of an entry plus one; 0: empty
  std::vector<std::int64_t> extents_;
};

}  // namespace deplo::ir
