// Reads types and attributes in the text of a tile program. Private to this folder.
#pragma once
#include <optional>
#include <vector>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/text/lexer.h"

namespace deplo::ir::tile_program::text {

/// Reads the type of a value. Throws Error with the place.
TypePtr read_type(Lexer&);
DType read_element(Lexer&);

/// The contents of `<f32: [1.0, 2.0]>`, read before the type of the tile is known.
struct DenseText {
  Token at;
  DType element = DType::f32;
  std::vector<Token> numbers;
  std::optional<Token> bytes;  // `"0x…"` instead of numbers
  Extents shape;
  TypePtr type;  // the type in `dense<…> : TYPE`; nullptr: only the element is known
};
DenseText read_dense(Lexer&);
/// Reads the part after the colon. `into` already has the element type.
void read_elements(Lexer&, DenseText& into);
Dense make_dense(const Lexer&, const DenseText&, const Type&);

/// Returns the number of a word of an enumeration. Throws Error with the words that the attribute allows.
std::int64_t number_of_word(const Lexer&, const Token& word, const AttributeForm&);

/// Reads any attribute except a dense one.
Attribute read_attribute(Lexer&, const AttributeForm&);
Hints read_hints(Lexer&);

}  // namespace deplo::ir::tile_program::text
