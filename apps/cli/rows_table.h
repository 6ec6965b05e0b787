// Rows of a query as a table for people, as JSON for programs.
#pragma once
#include <cstddef>
#include <string>

#include "measure/sqlite/rows.h"

namespace deplo::apps {

/// Columns under their names, numbers flush right, `-` for NULL; "" for no rows. For a window of that many columns; 0:
/// no limit.
std::string print_rows(const measure::Rows&, std::size_t width);
/// An array of objects.
std::string print_json(const measure::Rows&);

}  // namespace deplo::apps
