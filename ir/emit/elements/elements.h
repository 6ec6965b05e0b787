// Operations of Tile IR on scalars (Compute), as expressions of C.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/block.h"

namespace deplo::ir::elements {

/// Writes `const TYPE NAME = value;` and returns the name.
using Named = std::function<std::string(std::string_view type, const std::string& value)>;

/// `args`: names or literals of the arguments, whose types are `types`. Integers are unsigned.
std::string expression(const Compute&, const std::vector<std::string>& args, const std::vector<DType>& types, Dialect,
                       const Named&);

/// Why the language cannot express the operation, "expected …, found …"; "" if it can.
std::string unsupported(const Compute&, Dialect);

}  // namespace deplo::ir::elements
