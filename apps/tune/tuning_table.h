// Prints the results of a tuning run as a table, or as one JSON document for programs.
#pragma once
#include <cstddef>
#include <string>

#include "engine/tune/tuning_results.h"

namespace deplo::apps {

/// Returns the table. `width`: the window's width in columns; 0: no limit.
std::string print_table(const engine::Summary&, std::size_t width);
std::string print_json(const engine::Summary&);

}  // namespace deplo::apps
