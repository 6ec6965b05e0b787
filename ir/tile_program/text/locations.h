// `loc(…)` behind operations and arguments, and the aliases of attributes around a module (MLIR Language Reference,
// "Locations"). Places in messages are those of the text, so nothing of a location is kept. Private to the room.
#pragma once
#include <map>
#include <set>
#include <string>

#include "ir/tile_program/text/lexer.h"

namespace deplo::ir::tile_program::text {

/// The aliases of one text: `#loc3 = loc("k.py":25:8)` may stand behind what uses it.
class Locations {
 public:
  explicit Locations(Lexer& from) : from_(from) {}

  /// Reads `loc(…)` if it stands there.
  void read();
  /// Reads `#NAME = …` if one stands there.
  bool read_alias();
  /// Throws an Error for a location that names an alias that the text lacks.
  void check() const;

 private:
  void read_location(int depth);
  void read_file();
  void use_alias();

  Lexer& from_;
  std::set<std::string, std::less<>> defined_;
  std::map<std::string, Token, std::less<>> used_;
};

/// Passes over an attribute of any kind, up to the `,` or the bracket that ends it.
void skip_attribute(Lexer&);

}  // namespace deplo::ir::tile_program::text
