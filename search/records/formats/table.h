// The heads of objective columns in the tables that print_records() writes. A reader recognises the objective by its
// head.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "search/records/objective.h"

namespace deplo::search {

/// Returns "time (us)", "objective TotalDuration (us)" or "objective energy [J] (lower is better)", for example.
std::string objective_head(const Objective&);
/// The objective of such a head; nullopt: the head is not that of an objective.
std::optional<Objective> parse_objective_head(std::string_view head);

}  // namespace deplo::search
