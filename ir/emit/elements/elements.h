// Operations of Tile IR on scalars (Compute), as C expressions.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/block.h"

namespace deplo::ir::elements {

/// Writes `const TYPE NAME = value;` to the source, and returns NAME.
using Named = std::function<std::string(std::string_view type, const std::string& value)>;

/// Returns the operation as an expression. `args`: names or literals of the arguments, whose types are `types`.
/// Integers are unsigned.
std::string expression(const Compute&, const std::vector<std::string>& args, const std::vector<DType>& types, Dialect,
                       const Named&);

/// Returns why the language cannot express the operation, as "expected …, found …", or "" if it can.
std::string unsupported(const Compute&, Dialect);

}  // namespace deplo::ir::elements
