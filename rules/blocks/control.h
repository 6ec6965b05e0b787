// Lowers the bodies of operations. Private to the room.
#pragma once
#include <vector>

#include "rules/blocks/lowering.h"

namespace deplo::rules::blocks {

/// Adds a body without loops and memory operations. `arguments`: the values of the body's arguments. Returns the
/// yielded values.
std::vector<Name> add_body(Lowering&, const Operation& owner, const std::vector<Name>& arguments);
/// Adds a body that only the first thread executes, and that sets a one-element result. Afterwards all threads have the
/// result.
void once(Lowering&, ValueId result, const std::function<void()>& body);
/// Adds the body for each element of a value that the thread holds. For a one-element value, only the first thread
/// executes it.
void for_elements(Lowering&, ValueId, const std::function<void(const At&)>& body);

}  // namespace deplo::rules::blocks
