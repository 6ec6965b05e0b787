// Enumerates the legal configurations of parameters that depend on each other, without enumerating all configurations.
//
// Parameters are decided one after the other. A part of a constraint is evaluated once all its parameters are decided,
// and not again below; of the rest there are bounds (engine/foreign/range.h). Values that no legal configuration can
// have any more are left out at once. If two places agree in everything that undecided constraints still read, the
// second has the rows of the first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/foreign/expression_node.h"
#include "engine/foreign/parameter_space.h"

namespace deplo::engine::foreign {

/// A condition that legal configurations meet: a constraint, or one of those that "and" joins to a constraint.
struct Condition {
  Expression expression;
  std::vector<std::size_t> numbers;     // the parameter of each of the expression's names
  std::vector<std::size_t> parameters;  // those that it has, each once
};

/// `constraint` has parameters, and all are among these.
std::vector<Condition> conditions_of(const Expression& constraint, const std::vector<Parameter>&);

/// The rows of ParameterSpace::Group. Throws Error, prefixed by `place`, if they are too many or the user interrupts
/// the search, and a condition's Error if it cannot be evaluated for a configuration that meets all other conditions.
std::vector<std::uint16_t> solve(const std::vector<Parameter>&, const std::vector<std::size_t>& group,
                                 const std::vector<const Condition*>&, const std::string& place);

}  // namespace deplo::engine::foreign
