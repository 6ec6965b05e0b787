// Groups of lanes that do or hold the same, because they differ only in axes on which it does not depend. Axes are
// bits, in the order of the Tile. Private to the interpreter.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "ir/stmt.h"

namespace deplo::ir::exec {

class LaneGroups {
 public:
  LaneGroups() = default;
  /// For Loop and Tile IR: finds the register and vector axes that each Write and Combine of the program depends on.
  explicit LaneGroups(const Body& program);

  /// Adds the next axis of the Tile. `step`: distance between its lanes; 0 for axes of blocks and clusters.
  void add_axis(Bind, int step, int extent);
  /// The axes that a Write depends on, or a Combine's accumulator before the Combine. Thread axes are always included,
  /// because each thread executes its own statements.
  std::uint64_t axes_of(const Stmt&) const;
  /// For each of `lanes` lanes: the first lane of its group, whose lanes differ only in these axes.
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
