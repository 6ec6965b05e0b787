// Atomic operations on an element in global memory, as C.
#pragma once
#include <string>

#include "core/target.h"
#include "ir/tile_program/attribute.h"
#include "ir/types/dtype.h"

namespace deplo::ir::elements {

/// A function that the kernel calls, with its definition.
struct Function {
  std::string name, text;
};

/// Returns a function TYPE NAME(u64 address, TYPE x), which updates the element at the address and returns its previous
/// value. `system`: the update is also atomic for threads of other devices.
Function update_function(tile_program::Rmw, DType, bool system, Dialect);

/// Returns an expression that writes `value` to the address if the element's bits are those of `expected`. The value of
/// the expression is the previous element.
std::string swap_if(const std::string& address, const std::string& expected, const std::string& value, DType, Dialect);

}  // namespace deplo::ir::elements
