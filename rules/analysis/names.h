// Queries about the names in a program: which ones depend on an axis, which ones are read, and which ones are free.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/walk.h"

namespace deplo::rules {

/// Returns the axis and everything in the body that depends on it: values through their indices or through other
/// values, axes through their start. Values in `except` are left out, and so is what depends on the axis only through
/// them.
std::set<std::string, std::less<>> dependent_names(const ir::Body&, const std::string& axis,
                                                   const std::set<std::string, std::less<>>& except = {});
/// Returns whether the statement, or a statement inside it, reads one of the names.
bool depends(const ir::Stmt&, const std::set<std::string, std::less<>>& names);
/// Returns whether the index contains a value, as in a gather.
inline bool gathers(const ir::Program& program, const std::vector<ir::Expr>& index) {
  return ir::names_value(program.body, index);
}
/// Returns the numbers by which index expressions in the body divide the axis, or a sum that contains it: {28} for
/// `x[(a1 / 28), (a1 % 28)]`.
std::set<std::int64_t> divisors_of(const ir::Body&, const std::string& axis);
/// Returns how many consecutive iterations of the axis load the same element: 8 for `q[(a1 / 8), a0]`; 1 if each
/// iteration loads another element.
std::int64_t turns_of_element(const ir::Load&, const std::string& axis);
using NewNames = std::map<std::string, std::string, std::less<>>;
/// Renames values and accumulators, both their definitions and their uses.
void rename(ir::Body&, const NewNames&);
/// Returns all names that the program already uses, which a new value or buffer must not have.
std::set<std::string, std::less<>> names_of(const ir::Program&);
/// Return a name that is not in `names`, and insert it there: v0, v1, … for the stem v; x_smem, x_smem1, … for a slab
/// of x.
std::string fresh_name(std::set<std::string, std::less<>>& names, const std::string& stem, int n = 0);
std::string slab_name(std::set<std::string, std::less<>>& names, const std::string& source);

}  // namespace deplo::rules
