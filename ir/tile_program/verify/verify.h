// The verifier of tile programs.
#pragma once
#include <string>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program {

/// The context of the operation that a check examines.
struct Context {
  const Program& program;
  const Entry& entry;
  std::vector<const Operation*> enclosing;    // outermost first
  std::vector<const Operation*> definitions;  // indexed by ValueId; nullptr: an argument of a region or the entry

  const Type& type(ValueId id) const { return *entry.values[id].type; }
  /// Returns the number if the value is defined by a scalar constant, else nullopt.
  std::optional<std::int64_t> constant(ValueId id) const;
  std::string name(ValueId id) const;  // returns "%acc", or "%12" for a value without a name
};

/// Throws Error `PLACE: OPERATION: expected …, found …` for the first violation.
void verify(const Program&);

}  // namespace deplo::ir::tile_program
