// A space of decisions. Kernels (rules), recorded measurements (tables) and the small spaces of tests have the same
// interface for a searcher.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trail.h"

namespace deplo::search {

/// A node of the decision tree. Immutable; shared by pointer.
class Position {
 public:
  virtual ~Position() = default;
  /// The next decision; nullopt: a complete candidate.
  virtual const std::optional<Fork>& fork() const = 0;
  virtual const Trail& trail() const = 0;
  /// The position after taking options[option]. CHECKs the range.
  virtual std::shared_ptr<const Position> choose(std::size_t option) const = 0;
  /// The number of candidates below options[option]. If the space does not know it: 1 for every option.
  virtual double leaves(std::size_t /*option*/) const { return 1; }
};
using PositionPtr = std::shared_ptr<const Position>;

/// The description of a knob that a strategy in another process receives (docs/protocol.md).
struct KnobInfo {
  std::string name;
  std::vector<Value> options;  // without duplicates
  std::string kind;            // "integer", "text" or "on_off"
  std::string meaning;         // one line for users; "": unknown
  bool operator==(const KnobInfo&) const = default;
};

class Space {
 public:
  virtual ~Space() = default;
  virtual PositionPtr root() const = 0;
  /// The knobs, in the order of the tree. By default, these are the knobs on the paths to the heuristic's candidate and
  /// to 64 random candidates (the same at every call), with the options offered there. A large tree may have more.
  virtual std::vector<KnobInfo> knobs() const;
  /// The candidate of a stored trail; nullptr if the trail is not a candidate of this space.
  virtual PositionPtr find(const Trail&) const;
};

/// "integer" if all options are integers, else "text".
std::string kind_of(const std::vector<Value>& options);

/// The index of the option that the choice takes; nullopt if the fork is on another knob or does not offer the value.
std::optional<std::size_t> option_of(const Fork&, const Choice&);

/// The position after all choices of the trail; nullptr if a knob or value does not fit.
PositionPtr walk(const Space&, const Trail&);
/// The untuned compiler's candidate: options[0] at every fork.
PositionPtr heuristic(const Space&);
/// The candidate that is reached from a position by options[0] of each further fork.
PositionPtr completed(PositionPtr);

}  // namespace deplo::search
