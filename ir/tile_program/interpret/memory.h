// The arrays of a program, and the last accesses to each element. Private to this folder.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/tile_program/interpret/interpret.h"
#include "ir/tile_program/interpret/order.h"

namespace deplo::ir::tile_program::exec {

/// An access by an operation: the operation's event and past.
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

  /// Returns the address of an array's first element. Arrays are 2^40 bytes apart, so that no plausible offset leads
  /// from one to another.
  static std::uint64_t address(std::size_t array) { return (array + 1) << apart; }
  /// Adds an array that belongs to the program, such as a global. Returns its number.
  std::size_t add(Array array);

  /// Returns the bits of an element at an address, or nullopt if no array has an element there.
  std::optional<std::uint64_t> read(std::uint64_t address, DType);
  /// Returns false if no array has an element there.
  bool write(std::uint64_t address, DType, std::uint64_t bits);
  /// Returns the place for which `read` or `write` failed, for messages: "byte 4096 of A, which has 4096".
  std::string outside(std::uint64_t address, DType) const;

  /// Records an access of `size` existing bytes. Returns an event that it conflicts with, or 0 if there is none. If the
  /// operation writes the same place twice, it conflicts with its own event.
  EventId note(const Access&, const Events&, std::uint64_t address, int size);
  /// Returns the past that a release published at an address, for operations that acquire it.
  PastPtr& released(std::uint64_t address) { return releases_[address]; }
  /// Returns the name of the element at an address, for messages: "A[3]".
  std::string describe(std::uint64_t address) const;

  std::int64_t changes() const { return changes_; }  // number of writes that changed a value
  const std::vector<Array>& own() const { return own_; }

 private:
  static constexpr int apart = 40;
  struct Touch {
    EventId writer = 0, readers[2] = {0, 0};
  };
  struct Shadow {
    int granule = 1;  // size in bytes of the pieces that `touches` tracks
    std::vector<Touch> touches;
  };
  const Array* find(std::uint64_t address) const;
  std::uint8_t* locate(std::uint64_t address, int size);
  void add_shadow(const Array&);
  EventId note_one(const Access&, const Events&, Touch&);

  std::vector<Array>& arrays_;
  std::vector<Array> own_;  // numbered after arrays_
  std::vector<Shadow> shadows_;
  std::unordered_map<std::uint64_t, PastPtr> releases_;
  std::int64_t changes_ = 0;
};

}  // namespace deplo::ir::tile_program::exec
