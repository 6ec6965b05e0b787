// Decides which tiles of an entry are kept in memory, and which of the kept tiles are read by other threads. Private to
// the room.
#pragma once
#include <map>
#include <set>
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
  repeated,  // another element, which is read for several i
};

/// Key: the tile's value. Tells whether the tile is kept. Has only the tiles for which a schedule overrides the
/// heuristic.
using Kept = std::map<tp::ValueId, bool>;

/// Which tiles are kept. Other tiles are computed element by element where they are used.
class Plan {
 public:
  /// `shared`: tiles in memory that other threads use too, although no operation moves their elements.
  explicit Plan(const tp::Entry&, const Kept& = {}, const std::set<tp::ValueId>& shared = {});

  /// The values for which a schedule may decide whether they are kept: tiles whose elements are read by several uses,
  /// or read out of order, and for which no other rule decides.
  std::vector<tp::ValueId> open() const;
  bool keeps(tp::ValueId id) const { return facts_[id].kept; }
  bool crosses(tp::ValueId id) const { return facts_[id].crosses; }
  bool is_used(tp::ValueId id) const { return facts_[id].uses != 0; }
  /// Returns true if threads may have to wait in the region, because it accesses memory or passes elements from thread
  /// to thread.
  bool communicates(const tp::Region&) const;

 private:
  struct Facts {
    const tp::Operation* definition = nullptr;  // nullptr: a parameter, or an argument of a region
    const tp::Region* region = nullptr;         // the region that defines the value
    int uses = 0;
    bool used_inside = false;  // used in a region nested in its own
    bool used_moved = false;   // a user reads elements other than its own
    bool used_repeated = false;
    bool carried = false;     // carried by a jump
    bool multiplied = false;  // used by a matrix product, which reads each element many times
    bool cheap = true;        // reading it costs little, so each use may compute it again
    bool costly = false;      // used repeatedly, and computing one element takes too many operations
    bool kept = false, crosses = false;
    bool own_read = false, moved_read = false;  // `read` has seen it
  };
  const tp::Type& type(tp::ValueId id) const { return *entry_.values[id].type; }
  void define(const tp::Region&);
  void decide(const tp::Region&, const Kept&);
  void trace(const tp::Region&);
  void join(const tp::Region&);
  void read(tp::ValueId, Reads);
  bool may_choose(tp::ValueId) const;
  bool is_cheap(const tp::Operation&) const;
  bool is_costly(tp::ValueId) const;
  bool only_moves(tp::ValueId) const;

  const tp::Entry& entry_;
  std::vector<Facts> facts_;
};

}  // namespace deplo::rules::blocks
