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

/// TYPE NAME(u64 address, TYPE x): changes the element at the address and returns what was there. `system`: also for
/// threads of other devices.
Function update_function(tile_program::Rmw, DType, bool system, Dialect);

/// An expression: writes `value` to the address if the element's bits are those of `expected`, and returns the element
/// that was there.
std::string swap_if(const std::string& address, const std::string& expected, const std::string& value, DType, Dialect);

}  // namespace deplo::ir::elements
