// Reads the attributes of operations in bytecode. Private to this folder.
#pragma once
#include "ir/tile_program/bytecode/sections.h"

namespace deplo::ir::tile_program::bytecode {

/// Reads an attribute that is present. `value_type`: the type of the operation's first result, needed for a constant.
Attribute read_attribute(Bytes&, File&, const AttributeForm&, const TypePtr& value_type);
/// Reads the hints of a function: a tag, then the hints.
Hints read_tagged_hints(Bytes&, File&);

}  // namespace deplo::ir::tile_program::bytecode
