// Groups of lanes that do the same or hold the same value, because they differ only in axes that a statement does not
// depend on. Sets of axes are bit masks, in the order of the Tile's axes. Private to the interpreter.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "ir/stmt.h"

namespace deplo::ir::exec {

class LaneGroups {
 public:
  LaneGroups() = default;
  /// For Loop and Tile IR. Finds the register and vector axes that each Write and Combine of the program depends on.
  explicit LaneGroups(const Body& program);

  /// Adds the next axis of the Tile. `step`: distance between neighbouring lanes along it; 0 for axes of blocks and
  /// clusters.
  void add_axis(Bind, int step, int extent);
  /// Returns the axes that a Write depends on, or the axes that a Combine's accumulator depends on before the Combine.
  /// Thread axes are always included, because each thread executes its own statements.
  std::uint64_t axes_of(const Stmt&) const;
  /// Returns, for each of `lanes` lanes, the first lane of its group. The lanes of a group differ only in these axes.
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
