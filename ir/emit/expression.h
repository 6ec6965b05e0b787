// Index expressions as C.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/emit/dialect.h"
#include "ir/expr.h"

namespace deplo::ir {

/// Returns the expression as C, with the parentheses that its precedence needs. `/` and `%` truncate in C but round
/// down in the IR, so they are spelled out if the dividend may be negative under the ranges of the `axes`. A variable
/// without a range is an i32 value. Subexpressions that may not fit in 32 bits are computed in 64 bits, whatever the
/// type of the whole.
std::string index_code(const Expr&, const Ranges& axes, const Speller&);
/// Returns the flat element offset of an index: the same as index_code of flat_offset (walk.h), but faster for a plain
/// sum. `far`: offsets within the buffer need 64 bits. Otherwise the values in the index keep the offset within 32
/// bits.
std::string offset_code(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& axes,
                        const Speller&, bool far);
/// True if the expression is a comparison or conjunction, so that its value is 0 or 1.
bool is_condition(const Expr&);

/// Returns the values for `lane` = 0 … lanes - 1 as one OpenCL vector of int; truth values are 0 and -1.
std::string index_vector(const Expr&, int lanes, Ranges axes, const Speller&);

}  // namespace deplo::ir
