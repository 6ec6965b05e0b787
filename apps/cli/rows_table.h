// Rows of a query as a table for people, as JSON for programs.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/text/json.h"
#include "measure/sqlite/rows.h"

namespace deplo::apps {

/// Columns under their names, numbers flush right, `-` for NULL; "" for no rows. For a window of that many columns; 0:
/// no limit. `spare`: columns that a narrow window may do without, as in align_columns().
std::string print_rows(const measure::sqlite::Rows&, std::size_t width, std::span<const std::string_view> spare = {});
/// An array of objects.
Json json_of(const measure::sqlite::Rows&);
std::string print_json(const measure::sqlite::Rows&);

}  // namespace deplo::apps
