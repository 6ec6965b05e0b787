// Names of a program: what depends on an axis, what is read, names that are new.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ir/walk.h"

namespace deplo::rules {

/// The axis and whatever depends on it in the body: values by their indices or by other values, axes by their start. Not
/// the values of `except`, nor what follows from them.
std::set<std::string, std::less<>> dependent_names(const ir::Body&, const std::string& axis,
                                                   const std::set<std::string, std::less<>>& except = {});
/// Does the statement read one of the names, itself or in what it holds?
bool depends(const ir::Stmt&, const std::set<std::string, std::less<>>& names);
/// Does the index name a value?
inline bool gathers(const ir::Program& program, const std::vector<ir::Expr>& index) {
  return ir::names_value(program.body, index);
}
/// The names that a new value or buffer must differ from.
std::set<std::string, std::less<>> names_of(const ir::Program&);
/// One that is new to `names`, which it joins: v0, v1, … and, of a slab of x, x_smem, x_smem1, …
std::string fresh_name(std::set<std::string, std::less<>>& names, const std::string& stem, int n = 0);
std::string slab_name(std::set<std::string, std::less<>>& names, const std::string& source);

}  // namespace deplo::rules
