// Checks that an argument of a space fits the parameter that the kernel's source declares.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "engine/foreign/declaration.h"
#include "ir/types/types.h"

namespace deplo::engine::foreign {

struct PassedArgument {
  enum class Kind { array, local, value } kind = Kind::value;
  std::optional<ir::DType> element;  // nullopt: a struct
  std::size_t bytes = 0;             // size of a value; unused for arrays
};

/// Returns true for an image, a texture, a sampler or a tensor map, which no argument of a space can be.
bool is_handle(const DeclaredParameter&);

/// Returns the type that the parameter needs instead, such as "int". Returns "" if the argument fits, or if this cannot
/// be decided.
std::string misfit(const PassedArgument&, const DeclaredParameter&);

}  // namespace deplo::engine::foreign
