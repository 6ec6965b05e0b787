// Random graphs in the language of `deplo compile -c`.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deplo::testing {

/// Statements t0 = …; t1 = …. The value is a tuple of some of them.
struct RandomExpression {
  struct Statement {
    std::string text;               // $0, $1: the arguments
    std::vector<std::size_t> args;  // indices of earlier statements
  };
  std::vector<Statement> statements;
  std::vector<std::size_t> outputs;

  /// Returns the text of the statements that the outputs need.
  std::string text() const;
};

/// Returns an expression of about `steps` operations, not counting inputs and parameters: products, views, reductions,
/// normalisations, joins and elementwise operations. Each value has up to 4,000 elements; many extents are 1. Values
/// stay below 100 if inputs are in [-1, 1), so rounding errors stay small, too.
RandomExpression random_expression(std::uint64_t seed, int steps);

/// Returns a smaller expression for which `fails` is true, too: fewer outputs, inputs for operations, smaller extents.
RandomExpression shrink(RandomExpression, const std::function<bool(const std::string& text)>& fails);

/// Returns values for the inputs and parameters of the text's graph, and none for other nodes. Integers lie in the
/// range that the text states, floats in [-1, 1).
std::vector<std::vector<double>> random_sources(const std::string& text);

}  // namespace deplo::testing
