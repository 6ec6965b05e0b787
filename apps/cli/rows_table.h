// Prints the rows of a query as a table, or as JSON for programs.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/text/json.h"
#include "measure/sqlite/rows.h"

namespace deplo::apps {

/// A table with the names of the columns, right-aligned numbers, and `-` for NULL; "" if there are no rows. `width`: of
/// the window, in columns; 0: no limit. `spare`: columns that may be left out in a narrow window, as in
/// align_columns().
std::string print_rows(const measure::sqlite::Rows&, std::size_t width, std::span<const std::string_view> spare = {});
/// An array of objects.
Json json_of(const measure::sqlite::Rows&);
std::string print_json(const measure::sqlite::Rows&);

}  // namespace deplo::apps
