// Which tiles of an entry are kept, and which of these are read by other threads than wrote them. Private to the room.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program::blocks {

/// Whether all threads have the value alike: of one element.
bool is_scalar(const Type&);

/// How element i of an operation's result, or its own work on element i, reads an operand.
enum class Reads : std::uint8_t {
  own,       // element i
  moved,     // another one
  repeated,  // another one, and several elements read the same
};

/// Tiles that are not kept are worked out where they are used, element by element.
class Plan {
 public:
  explicit Plan(const Entry&);

  bool keeps(ValueId id) const { return facts_[id].kept; }
  bool crosses(ValueId id) const { return facts_[id].crosses; }
  bool is_used(ValueId id) const { return facts_[id].uses != 0; }
  /// Whether a region does what threads may have to wait for: touches memory, or passes elements from thread to thread.
  bool communicates(const Region&) const;

 private:
  struct Facts {
    const Operation* definition = nullptr;  // nullptr: a parameter, or an argument of a region
    const Region* region = nullptr;         // where it is defined
    int uses = 0;
    bool used_inside = false;  // in a region in its own
    bool used_repeated = false;
    bool kept = false, crosses = false;
  };
  const Type& type(ValueId id) const { return *entry_.values[id].type; }
  void define(const Region&);
  void decide(const Region&);
  void trace(const Region&);
  void join(const Region&);
  void read(ValueId, Reads);
  bool is_cheap(ValueId) const;
  bool only_moves(ValueId) const;

  const Entry& entry_;
  std::vector<Facts> facts_;
};

}  // namespace deplo::ir::tile_program::blocks
