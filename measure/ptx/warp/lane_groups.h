// The lanes of a warp, in groups of lanes that are at the same instruction.
#pragma once
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// No two groups are at the same instruction.
class LaneGroups {
 public:
  struct Group {
    std::uint32_t at = 0;  // the number of the instruction
    Lanes lanes = 0;
    bool waiting = false;
  };
  explicit LaneGroups(Lanes all) : all_{{0, all, false}} {}

  bool none() const { return all_.empty(); }
  bool one() const { return all_.size() == 1; }
  std::size_t count() const { return all_.size(); }
  const std::vector<Group>& all() const { return all_; }
  Group& operator[](std::size_t i) { return all_[i]; }
  void wake();
  /// Picks the group that runs next; returns count() if all groups wait.
  std::size_t pick(Rng&) const;
  /// Merges the group with another group at the same instruction, if there is one.
  void merge(std::size_t current) {
    if (all_.size() > 1) join(current);
  }
  /// Splits off the lanes with a false guard, so that they go on while the active lanes may wait for the instruction.
  void split(std::size_t current, Lanes active);
  /// Moves the active lanes to `target`, and the other lanes of the group to the next instruction.
  void branch(std::size_t current, std::uint32_t target, Lanes active);
  /// Removes lanes of the group that have ended.
  void end(std::size_t current, Lanes lanes);

 private:
  void join(std::size_t current);
  void add(const Group&);

  std::vector<Group> all_;
};

}  // namespace deplo::measure::ptx
