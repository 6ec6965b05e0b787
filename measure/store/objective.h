// Trials of imported spaces whose objective is not a duration. Their protocol is "recorded LABEL", with LABEL as in
// "GFLOP/s, higher is better" (search/records/objective.h). Their median_us is the objective's value, negated if higher
// is better, so that less is better in every query.
#pragma once
#include <string_view>

namespace deplo::measure {

inline constexpr std::string_view objective_protocol = "recorded ";
inline constexpr std::string_view higher_ending = ", higher is better";

inline bool is_other_objective(std::string_view protocol) { return protocol.starts_with(objective_protocol); }
/// Returns LABEL; "" if the objective is a time.
inline std::string_view objective_of(std::string_view protocol) {
  return is_other_objective(protocol) ? protocol.substr(objective_protocol.size()) : std::string_view();
}
/// Returns the objective's value of a trial with this protocol and median_us.
inline double objective_value(std::string_view protocol, double median_us) {
  return protocol.ends_with(higher_ending) ? -median_us : median_us;
}

}  // namespace deplo::measure
