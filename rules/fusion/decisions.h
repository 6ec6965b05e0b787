// The decisions of fusion. They are forks like those of schedules (core/trail.h). The first option is the heuristic's.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trail.h"

namespace deplo::rules::fusion {

/// The prefix of a decision's name, before the dot.
inline constexpr std::string_view decision_group = "fusion";

/// The name of the decision KIND about a tensor, such as "fusion.merge_mul".
std::string decision_name(std::string_view kind, const std::string& tensor);

class Decisions {
 public:
  Decisions() = default;
  /// `taken`: decisions that the heuristic does not make, by name. `fixed`: FuseOptions::fixed.
  Decisions(const Trail& taken, const Trail& fixed);

  /// The value that is fixed for all tensors; nullopt if the decision is not fixed. `kind`: for example "attention".
  std::optional<deplo::Value> fixed(std::string_view kind) const;
  /// Makes the decision KIND about a tensor: the value in `taken`, else options[0]. The same decision may be made
  /// again, because fusion retries merges that it refused; the last time counts. `options` must not be empty.
  deplo::Value take(std::string_view kind, const std::string& tensor, std::vector<deplo::Value> options);

  const Trail& trail() const { return trail_; }
  const std::vector<Fork>& forks() const { return forks_; }  // [i] was decided by trail()[i]
  /// Why `taken` does not fit this graph; "" if it does. Call it after all decisions have been made.
  std::string fault() const;

 private:
  std::optional<deplo::Value> chosen(const Fork&);

  Trail taken_, fixed_, trail_;
  std::vector<Fork> forks_;
  std::string illegal_;  // describes a value of `taken_` that its fork does not offer
};

}  // namespace deplo::rules::fusion
