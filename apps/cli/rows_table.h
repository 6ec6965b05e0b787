// Prints the rows of a query as a table, or as JSON for programs.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/text/json.h"
#include "measure/sqlite/rows.h"

namespace deplo::apps {

/// Returns a table with the names of the columns, right-aligned numbers, and `-` for NULL; "" if there are no rows.
/// `width`: the window's width in columns; 0: no limit. `spare`: columns that may be left out in a narrow window, as in
/// align_columns().
std::string print_rows(const measure::sqlite::Rows&, std::size_t width, std::span<const std::string_view> spare = {});
/// Returns an array with one object per row. The keys are the names of the columns.
Json json_of(const measure::sqlite::Rows&);
std::string print_json(const measure::sqlite::Rows&);

}  // namespace deplo::apps
