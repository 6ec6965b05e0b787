// How each operation on scalars is written: a row for each, in the file of its kind. Private to the room.
#pragma once
#include <functional>
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
  const std::vector<DType>& types;       // of the arguments
  const Words& words;
  const Named& named;
  DType result() const { return compute.dtype; }
  std::int64_t number(std::string_view attribute) const { return compute.number(attribute); }
};

struct Row {
  std::string_view name;
  std::string (*expression)(Call&) = nullptr;
  /// Why the language has no such operation; "": it has. nullptr: both languages have it.
  std::string (*unsupported)(const Compute&, const Words&) = nullptr;
};

std::vector<Row> float_rows();
std::vector<Row> integer_rows();
std::vector<Row> conversion_rows();

}  // namespace deplo::ir::elements
