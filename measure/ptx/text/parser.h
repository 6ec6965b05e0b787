// PTX text → Module.
#pragma once
#include <string_view>

#include "measure/ptx/text/syntax.h"

namespace deplo::measure::ptx {

/// Parses a module with one or several entries. Names that are declared in a block within a function ("{ .reg .pred p;
/// … }") are made distinct. Instructions are not checked; decode() does that. Throws a one-line Error that names the
/// PTX line, what was expected, and what was found.
Module parse(std::string_view text);

/// Number of bits of a type of variables and registers, such as "b32", "f16" or "pred"; 0 if the word is no such type.
int plain_type_bits(std::string_view type);

}  // namespace deplo::measure::ptx
