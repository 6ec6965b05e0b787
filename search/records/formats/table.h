// The heads of objective columns in the tables that print_records() writes. A reader finds the objective by them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "search/records/objective.h"

namespace deplo::search {

/// "time (us)", "objective TotalDuration (us)", "objective energy [J] (lower is better)".
std::string objective_head(const Objective&);
/// nullopt: not the head of an objective.
std::optional<Objective> parse_objective_head(std::string_view head);

}  // namespace deplo::search
