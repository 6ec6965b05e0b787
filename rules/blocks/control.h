// Bodies of operations. Private to the room.
#pragma once
#include <vector>

#include "rules/blocks/lowering.h"

namespace deplo::rules::blocks {

/// Adds a body without loops and memory operations. `arguments`: the values of its arguments. Returns what it yields.
std::vector<Name> add_body(Lowering&, const Operation& owner, const std::vector<Name>& arguments);
/// The body is executed once, by the first thread, and sets a one-element result. Afterwards all threads have it.
void once(Lowering&, ValueId result, const std::function<void()>& body);
/// The body for the thread's elements of a value; by the first thread for a one-element value.
void for_elements(Lowering&, ValueId, const std::function<void(const At&)>& body);

}  // namespace deplo::rules::blocks
