// Index expressions as C.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace deplo::ir {

/// C text with the parentheses that its precedence needs. `/` and `%` truncate in C and floor in the IR: where the
/// dividend may be negative under the ranges of the `axes` they are spelled out. A variable without a range is an i32
/// value. `wide`: axes are long; so must be what stands beside them in min and max.
std::string index_code(const Expr&, const Ranges& axes, bool wide);
/// The flat element offset of an index: what index_code gives of flat_offset (walk.h), faster where it is a plain sum.
std::string offset_code(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& axes,
                        bool wide);
/// Whether the value is 0 or 1 by its operation: a comparison or a conjunction.
bool is_condition(const Expr&);

/// The values for lane 0 … lanes - 1 of the variable `lane` as one OpenCL vector of int, truth values as 0 and -1.
std::string index_vector(const Expr&, int lanes, Ranges axes, bool wide);

}  // namespace deplo::ir
