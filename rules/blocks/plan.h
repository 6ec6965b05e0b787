// Decides which tiles of an entry are kept in memory, and which of these other threads read. Private to the room.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::rules::blocks {

namespace tp = ir::tile_program;

/// True for one-element tiles, which every thread holds.
bool is_scalar(const tp::Type&);

/// Which element of an operand an operation reads to compute element i.
enum class Reads : std::uint8_t {
  own,       // element i
  moved,     // another element
  repeated,  // another element, which several i share
};

/// Whether tiles are kept, by their values, where a schedule decides otherwise than the heuristic.
using Kept = std::map<tp::ValueId, bool>;

/// Tiles that are not kept are computed where they are used, element by element.
class Plan {
 public:
  /// `shared`: results that threads write for each other.
  explicit Plan(const tp::Entry&, const Kept& = {}, const std::set<tp::ValueId>& shared = {});

  /// The values for which a schedule may decide whether they are kept: tiles whose elements several uses read, or read
  /// out of order, and that nothing else decides about.
  std::vector<tp::ValueId> open() const;
  bool keeps(tp::ValueId id) const { return facts_[id].kept; }
  bool crosses(tp::ValueId id) const { return facts_[id].crosses; }
  bool is_used(tp::ValueId id) const { return facts_[id].uses != 0; }
  /// Whether threads may have to wait in a region: it accesses memory, or passes elements from thread to thread.
  bool communicates(const tp::Region&) const;

 private:
  struct Facts {
    const tp::Operation* definition = nullptr;  // nullptr: a parameter, or an argument of a region
    const tp::Region* region = nullptr;         // that defines it
    int uses = 0;
    bool used_inside = false;  // in a region nested in its own
    bool used_moved = false;   // other elements of it than the user's own
    bool used_repeated = false;
    bool carried = false;     // by a jump
    bool multiplied = false;  // by a product of matrices, which reads each element many times
    bool kept = false, crosses = false;
  };
  const tp::Type& type(tp::ValueId id) const { return *entry_.values[id].type; }
  void define(const tp::Region&);
  void decide(const tp::Region&, const Kept&);
  void trace(const tp::Region&);
  void join(const tp::Region&);
  void read(tp::ValueId, Reads);
  bool may_choose(tp::ValueId) const;
  bool is_cheap(tp::ValueId) const;
  bool only_moves(tp::ValueId) const;

  const tp::Entry& entry_;
  std::vector<Facts> facts_;
};

}  // namespace deplo::rules::blocks
