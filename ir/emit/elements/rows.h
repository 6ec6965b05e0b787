// The expressions for operations on scalars: one row for each operation, grouped in a file per family. Private to this
// folder.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/emit/elements/elements.h"
#include "ir/emit/elements/words.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::elements {

struct Call {
  const Compute& compute;
  const std::vector<std::string>& args;  // names or literals; integers are unsigned
  const std::vector<DType>& types;       // types of the arguments
  const Words& words;
  const Named& named;
  DType result() const { return compute.dtype; }
  std::int64_t number(std::string_view attribute) const { return compute.number(attribute); }
};

struct Row {
  std::string_view name;
  std::string (*expression)(Call&) = nullptr;
  /// Returns why the language has no such operation, or "" if it has. nullptr: both languages have the operation.
  std::string (*unsupported)(const Compute&, const Words&) = nullptr;
};

std::vector<Row> float_rows();
std::vector<Row> integer_rows();
std::vector<Row> conversion_rows();

}  // namespace deplo::ir::elements
