// Reads `loc(…)` after operations and arguments, and the aliases of attributes around a module (MLIR Language
// Reference, "Locations"). Locations are discarded, because messages name places in the text itself. Private to this
// folder.
#pragma once
#include <map>
#include <set>
#include <string>

#include "ir/tile_program/text/lexer.h"

namespace deplo::ir::tile_program::text {

/// The aliases of one text. An alias may be defined after its uses: `#loc3 = loc("k.py":25:8)`.
class Locations {
 public:
  explicit Locations(Lexer& from) : from_(from) {}

  /// Reads `loc(…)` if it comes next.
  void read();
  /// Reads `#NAME = …` if it comes next.
  bool read_alias();
  /// Throws Error if a location names an alias that the text does not define.
  void check() const;

 private:
  void read_location(int depth);
  void read_file();
  void use_alias();

  Lexer& from_;
  std::set<std::string, std::less<>> defined_;
  std::map<std::string, Token, std::less<>> used_;
};

/// Skips an attribute of any kind, up to the `,` or the bracket that ends it.
void skip_attribute(Lexer&);

}  // namespace deplo::ir::tile_program::text
