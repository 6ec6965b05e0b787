// Names in a program: those that depend on an axis, those that are read, and fresh ones.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ir/walk.h"

namespace deplo::rules {

/// The axis and everything in the body that depends on it: values through their indices or through other values, axes
/// through their start. Values in `except` are left out, and so is what depends on the axis only through them.
std::set<std::string, std::less<>> dependent_names(const ir::Body&, const std::string& axis,
                                                   const std::set<std::string, std::less<>>& except = {});
/// Does the statement, or a statement inside it, read one of the names?
bool depends(const ir::Stmt&, const std::set<std::string, std::less<>>& names);
/// Does the index name a value, as in a gather?
inline bool gathers(const ir::Program& program, const std::vector<ir::Expr>& index) {
  return ir::names_value(program.body, index);
}
/// What the index expressions that statements of the body read divide the axis by, alone or in a sum: 28 of
/// `x[(a1 / 28), (a1 % 28)]`.
std::set<std::int64_t> divisors_of(const ir::Body&, const std::string& axis);
/// How many turns of the axis one element that the load reads serves: 8 of `q[(a1 / 8), a0]`, 1 if each turn has another.
std::int64_t turns_of_element(const ir::Load&, const std::string& axis);
/// The names that a new value or buffer must not have.
std::set<std::string, std::less<>> names_of(const ir::Program&);
/// Return a name that is not in `names`, and add it there: v0, v1, … for the stem v; x_smem, x_smem1, … for a slab of
/// x.
std::string fresh_name(std::set<std::string, std::less<>>& names, const std::string& stem, int n = 0);
std::string slab_name(std::set<std::string, std::less<>>& names, const std::string& source);

}  // namespace deplo::rules
