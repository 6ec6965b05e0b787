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
DType read_element(Lexer&);

/// What stands in `<f32: [1.0, 2.0]>`, before the type of the tile is known.
struct DenseText {
  Token at;
  DType element = DType::f32;
  std::vector<Token> numbers;
  std::optional<Token> bytes;  // `"0x…"` in place of numbers
  Extents shape;
  TypePtr type;  // of `dense<…> : TYPE`; nullptr: the element alone is known
};
DenseText read_dense(Lexer&);
/// What stands behind the colon. `into` has the element.
void read_elements(Lexer&, DenseText& into);
Dense make_dense(const Lexer&, const DenseText&, const Type&);

/// Any attribute but a dense one.
Attribute read_attribute(Lexer&, const AttributeForm&);
Hints read_hints(Lexer&);

}  // namespace deplo::ir::tile_program::text
