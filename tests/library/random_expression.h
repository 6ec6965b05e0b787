// Random graphs in the language of `deplo compile -c`.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deplo::testing {

/// Statements t0 = …; t1 = …; the value is a tuple of some of them.
struct RandomExpression {
  struct Statement {
    std::string text;               // $0, $1: its arguments
    std::vector<std::size_t> args;  // earlier statements
  };
  std::vector<Statement> statements;
  std::vector<std::size_t> outputs;

  /// Of what the outputs need.
  std::string text() const;
};

/// Of about `steps` operations beside inputs and parameters: products, views, reductions, normalisations, joins and
/// elementwise ones, of up to 4,000 elements each, with many extents of 1. Values stay below 100 where inputs are in
/// [-1, 1), so that rounding does.
RandomExpression random_expression(std::uint64_t seed, int steps);

/// A smaller expression that `fails` too: fewer outputs, inputs for operations, smaller extents.
RandomExpression shrink(RandomExpression, const std::function<bool(const std::string& text)>& fails);

/// Values of each input and parameter of the graph of the text, empty for other nodes: [-1, 1), integers as drawn.
std::vector<std::vector<double>> random_sources(const std::string& text);

}  // namespace deplo::testing
