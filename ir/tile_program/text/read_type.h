// Types and attributes in the text of a tile program. Private to the room.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/text/lexer.h"

namespace deplo::ir::tile_program::text {

/// A type of a value. The message of an Error names its place.
TypePtr read_type(Lexer&);

/// What stands in `<f32: [1.0, 2.0]>`, before the type of the tile is known.
struct DenseText {
  Token at;
  Element element = Element::f32;
  std::vector<Token> numbers;
  Extents shape;
};
DenseText read_dense(Lexer&);
Dense make_dense(const Lexer&, const DenseText&, const Type&);

/// Any attribute but a dense one.
Attribute read_attribute(Lexer&, const AttributeForm&);
Hints read_hints(Lexer&);

}  // namespace deplo::ir::tile_program::text
