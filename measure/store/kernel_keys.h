// The text of stored kernels, and SQL functions for their structural keys (ir/canonical/canonical.h).
#pragma once
#include <optional>
#include <string_view>

#include "ir/program.h"
#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// Returns the kernel with this text; nullopt for text that is not well-formed Loop IR.
std::optional<ir::Program> parse_loop(std::string_view text);

/// Adds deplo_schedule_key(text) and deplo_exact_key(text) to the connection. They return '' for text that is not Loop
/// IR, such as the description of an imported space.
void add_key_functions(sqlite::Database&);

}  // namespace deplo::measure
