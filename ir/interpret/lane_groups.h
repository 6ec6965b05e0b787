// Private to the interpreter: lanes that do or hold the same thing, for they differ only in axes on which it does not
// depend. Axes are bits, in the order of the Tile.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "ir/stmt.h"

namespace deplo::ir::exec {

class LaneGroups {
 public:
  LaneGroups() = default;
  /// Above Kernel IR: which register and vector axes the writes and combines of the program depend on.
  explicit LaneGroups(const Body& program);

  /// The next axis of the Tile. `step`: between its lanes; 0: of blocks and clusters.
  void add_axis(Bind, int step, int extent);
  /// The axes that a Write, or a Combine's accumulator before it, depends on. Threads always count: each runs its own
  /// statements.
  std::uint64_t axes_of(const Stmt&) const;
  /// Of each of `lanes` lanes: the first of the group that differs in these axes only.
  std::vector<int> first_lanes(std::uint64_t axes, int lanes) const;

 private:
  struct Axis {
    int step, extent;
  };
  std::vector<Axis> axes_;
  std::uint64_t threads_ = 0;
  std::map<const Stmt*, std::uint64_t> dependences_;
};

}  // namespace deplo::ir::exec
