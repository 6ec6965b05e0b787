// Quoted strings, in tile programs and in Kernel IR.
#pragma once
#include <string>
#include <string_view>

namespace deplo::ir::tile_program::text {

/// Returns the text in quotes, with escapes such as `\n`, and `\0D` for other bytes that are not printable ASCII.
std::string quoted(std::string_view);
/// Returns the text between the quotes with its escapes replaced: `\n`, `\0A`.
std::string unquoted(std::string_view);

}  // namespace deplo::ir::tile_program::text
