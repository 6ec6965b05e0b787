// The lanes of a warp, in groups that are at the same instruction.
#pragma once
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

/// No two groups are at one place.
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
  /// The group that goes on; count(): all of them wait.
  std::size_t pick(Rng&) const;
  /// Joins the group with the one at the same place, if there is one.
  void merge(std::size_t current) {
    if (all_.size() > 1) join(current);
  }
  /// Lanes that do not execute an instruction for which the others may wait go ahead.
  void split(std::size_t current, Lanes active);
  /// The active lanes go to `target`, the others on.
  void branch(std::size_t current, std::uint32_t target, Lanes active);
  /// These lanes of the group have ended.
  void end(std::size_t current, Lanes lanes);

 private:
  void join(std::size_t current);
  void add(const Group&);

  std::vector<Group> all_;
};

}  // namespace deplo::measure::ptx
