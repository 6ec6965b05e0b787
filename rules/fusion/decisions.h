// The decisions of fusion. They are forks like those of schedules (core/trail.h), and the heuristic's option comes
// first.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trail.h"

namespace deplo::rules::fusion {

/// What stands before the dot of a decision's name.
inline constexpr std::string_view decision_group = "fusion";

/// "fusion.merge_mul": the decision KIND of a tensor.
std::string decision_name(std::string_view kind, const std::string& tensor);

class Decisions {
 public:
  Decisions() = default;
  /// `taken`: decisions that are not left to the heuristic, by their names. `fixed`: FuseOptions::fixed.
  Decisions(const Trail& taken, const Trail& fixed);

  /// The choice for all tensors, if the decision is fixed. `kind`: "attention".
  std::optional<deplo::Value> fixed(std::string_view kind) const;
  /// Takes the decision KIND of a tensor: as `taken` says, else options[0]. The same decision may be taken again,
  /// because fusion tries again what it refused; the last time counts. `options` must not be empty.
  deplo::Value take(std::string_view kind, const std::string& tensor, std::vector<deplo::Value> options);

  const Trail& trail() const { return trail_; }
  const std::vector<Fork>& forks() const { return forks_; }  // [i] was taken by trail()[i]
  /// Why `taken` does not fit this graph; "" if it does. Call it after all decisions.
  std::string fault() const;

 private:
  std::optional<deplo::Value> chosen(const Fork&);

  Trail taken_, fixed_, trail_;
  std::vector<Fork> forks_;
  std::string illegal_;  // a value of `taken_` that no fork offers
};

}  // namespace deplo::rules::fusion
