// Index expressions as C.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/emit/dialect.h"
#include "ir/expr.h"

namespace deplo::ir {

/// C text with the parentheses that its precedence needs. `/` and `%` truncate in C and floor in the IR: where the
/// dividend may be negative under the ranges of the `axes` they are spelled out. A variable without a range is an i32
/// value. Parts of an expression that 32 bits may not hold are computed in 64, whatever the whole is.
std::string index_code(const Expr&, const Ranges& axes, const Speller&);
/// The flat element offset of an index: what index_code gives of flat_offset (walk.h), faster where it is a plain sum.
/// `far`: offsets within the buffer need 64 bits. Otherwise the values in the index keep the offset within 32.
std::string offset_code(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& axes,
                        const Speller&, bool far);
/// Whether the value is 0 or 1 by its operation: a comparison or a conjunction.
bool is_condition(const Expr&);

/// The values for lane 0 … lanes - 1 of the variable `lane` as one OpenCL vector of int, truth values as 0 and -1.
std::string index_vector(const Expr&, int lanes, Ranges axes, const Speller&);

}  // namespace deplo::ir
