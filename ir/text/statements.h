// The parsers of statements, with one function for each keyword that begins a statement. Private to ir/text.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ir/stmt.h"
#include "ir/text/terms.h"

namespace deplo::ir::text {

/// The parser of one kind of statement. It reads from after the keyword to the end of the line, and the body below it.
struct Keyword {
  std::string_view word;
  Stmt (*parse)(Terms&);
};
std::span<const Keyword> loop_keywords();    // parse_loop.cpp
std::span<const Keyword> tile_keywords();    // parse_tile.cpp
std::span<const Keyword> formed_keywords();  // parse_forms.cpp
std::span<const Keyword> block_keywords();   // parse_block.cpp
/// Returns nullptr if the word is not a keyword.
const Keyword* find_keyword(std::string_view word);

// parse_loop.cpp: reads a statement that begins with a name, from after the name.
Stmt named(Terms&, std::string name);
Stmt stage(Terms&, std::string buffer, DType);  // parse_tile.cpp: reads the rest after `buffer = Stage`
Stmt scale(Terms&, std::string acc, Type);      // parse_tile.cpp: reads the rest after `acc <- scale`

/// Reads the parts of a statement in parentheses.
template <Stmt (*parts)(Terms&)>
Stmt enclosed(Terms& in) {
  in.expect("(");
  Stmt stmt = parts(in);
  in.expect(")");
  return stmt;
}

/// Reads the lines at this depth, up to the first line at a smaller depth.
Body body(Terms&, std::size_t depth);
/// Reads the lines that are nested below the current line, which has been read to its end.
Body nested(Terms&);

}  // namespace deplo::ir::text
