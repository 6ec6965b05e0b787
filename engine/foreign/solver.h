// Enumerates the legal configurations of parameters that depend on each other, without enumerating all configurations.
//
// Parameters are decided one after the other. A part of a constraint is evaluated as soon as all its parameters are
// decided, and only once. The other parts have bounds (engine/foreign/range.h). Values that no legal configuration can
// have are pruned at once. If two places in the search agree in everything that undecided constraints still read, the
// rows of the first place are copied to the second.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/foreign/expression_node.h"
#include "engine/foreign/parameter_space.h"

namespace deplo::engine::foreign {

/// A condition that every legal configuration meets: a constraint, or one operand of a constraint's "and".
struct Condition {
  Expression expression;
  std::vector<std::size_t> numbers;     // the index of the parameter for each of the expression's names
  std::vector<std::size_t> parameters;  // the parameters in this condition, each once
};

/// Splits a constraint into conditions. The constraint must have parameters, and all must be among the given ones.
std::vector<Condition> conditions_of(const Expression& constraint, const std::vector<Parameter>&);

/// Returns the rows of a ParameterSpace::Group. Throws Error, prefixed by `place`, if there are too many rows or if the
/// user interrupts the search. Throws a condition's Error if the condition cannot be evaluated for a configuration that
/// meets all other conditions.
std::vector<std::uint16_t> solve(const std::vector<Parameter>&, const std::vector<std::size_t>& group,
                                 const std::vector<const Condition*>&, const std::string& place);

}  // namespace deplo::engine::foreign
