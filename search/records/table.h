// The heads of the tables that print_records() writes, which tell a reader the objective.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "search/records/objective.h"

namespace deplo::search {

/// "time (us)", "objective TotalDuration (us)", "objective energy [J] (lower is better)".
std::string objective_head(const Objective&);
/// nullopt: it is no such head.
std::optional<Objective> parse_objective_head(std::string_view head);

}  // namespace deplo::search
