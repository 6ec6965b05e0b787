// Reading statements: a function for each word that one begins with. Private to ir/text.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ir/stmt.h"
#include "ir/text/terms.h"

namespace deplo::ir::text {

/// A statement from behind its first word to the end of the line, and the body below it.
struct Keyword {
  std::string_view word;
  Stmt (*parse)(Terms&);
};
std::span<const Keyword> loop_keywords();    // parse_loop.cpp
std::span<const Keyword> tile_keywords();    // parse_tile.cpp
std::span<const Keyword> kernel_keywords();  // parse_kernel.cpp
/// nullptr: no statement begins with the word.
const Keyword* find_keyword(std::string_view word);

Stmt named(Terms&, std::string name);           // parse_loop.cpp: a statement that begins with the name
Stmt stage(Terms&, std::string buffer, DType);  // parse_tile.cpp: behind `buffer = Stage`
Stmt scale(Terms&, std::string acc, Type);      // parse_tile.cpp: behind `acc <- scale`

/// The lines at this depth, up to one that is less deep.
Body body(Terms&, std::size_t depth);
/// The lines below the current one, which has been read to its end.
Body nested(Terms&);

}  // namespace deplo::ir::text
