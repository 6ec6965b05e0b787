// The attributes of operations in bytecode. Private to the room.
#pragma once
#include "ir/tile_program/bytecode/sections.h"

namespace deplo::ir::tile_program::bytecode {

/// One that the form says is there. `value_type` is that of the operation's first result, for a constant.
Attribute read_attribute(Bytes&, File&, const AttributeForm&, const TypePtr& value_type);
/// Hints behind their tag, as a function has them.
Hints read_tagged_hints(Bytes&, File&);

}  // namespace deplo::ir::tile_program::bytecode
