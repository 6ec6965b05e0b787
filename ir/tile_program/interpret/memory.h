// The arrays that a program sees, and who touched each element last. Private to the room.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/tile_program/interpret/interpret.h"
#include "ir/tile_program/interpret/order.h"

namespace deplo::ir::tile_program::exec {

/// One access of an operation: its event and what it knows of the past.
struct Access {
  EventId event = 0;
  const PastPtr* past = nullptr;
  bool writes = false, atomic = false;
};

class Memory {
 public:
  explicit Memory(std::vector<Array>& arrays) : arrays_(arrays) {
    for (const Array& array : arrays) add_shadow(array);
  }

  /// The address of an array's first element. Arrays lie so far apart that no offset leads from one into another.
  static std::uint64_t address(std::size_t array) { return (array + 1) << apart; }
  /// An array of the program's own; its number.
  std::size_t add(Array array);

  /// The bits of an element at an address, or a sentence about why there is none.
  std::optional<std::uint64_t> read(std::uint64_t address, DType);
  bool write(std::uint64_t address, DType, std::uint64_t bits);
  /// Why `read` or `write` did nothing: "reads byte 4096 of A, which has 4096".
  std::string outside(std::uint64_t address, DType) const;

  /// Notes an access of `size` bytes that are there. Returns an event that it conflicts with, 0 if there is none; the
  /// access's own if it wrote the same place twice.
  EventId note(const Access&, const Events&, std::uint64_t address, int size);
  /// What a release left at an address for who acquires it.
  PastPtr& released(std::uint64_t address) { return releases_[address]; }
  /// "A[3]" of an element's array, for messages.
  std::string describe(std::uint64_t address) const;

  std::int64_t changes() const { return changes_; }  // writes that changed a value
  const std::vector<Array>& own() const { return own_; }

 private:
  static constexpr int apart = 40;
  struct Touch {
    EventId writer = 0, readers[2] = {0, 0};
  };
  struct Shadow {
    int granule = 1;  // bytes
    std::vector<Touch> touches;
  };
  const Array* find(std::uint64_t address) const;
  std::uint8_t* locate(std::uint64_t address, int size);
  void add_shadow(const Array&);
  EventId note_one(const Access&, const Events&, Touch&);

  std::vector<Array>& arrays_;
  std::vector<Array> own_;  // behind them
  std::vector<Shadow> shadows_;
  std::unordered_map<std::uint64_t, PastPtr> releases_;
  std::int64_t changes_ = 0;
};

}  // namespace deplo::ir::tile_program::exec
