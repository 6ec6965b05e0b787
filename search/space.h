// A space of decisions: kernels (rules), recorded measurements (tables) and toys (tests) look the same to a searcher.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

#include "core/trail.h"

namespace deplo::search {

/// A place in the tree of decisions. Immutable; shared by handle.
class Position {
 public:
  virtual ~Position() = default;
  /// The open decision; none: a complete candidate.
  virtual const std::optional<Fork>& fork() const = 0;
  virtual const Trail& trail() const = 0;
  /// The place after taking options[option]; CHECKs the range.
  virtual std::shared_ptr<const Position> choose(std::size_t option) const = 0;
  /// How many candidates lie below options[option] where that is known, else 1: all options are then alike.
  virtual double leaves(std::size_t /*option*/) const { return 1; }
};
using PositionPtr = std::shared_ptr<const Position>;

class Space {
 public:
  virtual ~Space() = default;
  virtual PositionPtr root() const = 0;
  /// The candidate that a stored trail stands for; nullptr: it is none of this space.
  virtual PositionPtr find(const Trail&) const;
};

/// Which option of the fork the choice takes; none: another knob, or a value that is not offered.
std::optional<std::size_t> option_of(const Fork&, const Choice&);

/// The place after following the trail as far as it goes; nullptr when a knob or value does not fit.
PositionPtr walk(const Space&, const Trail&);
/// The candidate of the untuned compiler: options[0] all the way.
PositionPtr heuristic(const Space&);

}  // namespace deplo::search
