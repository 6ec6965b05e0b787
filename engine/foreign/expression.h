// Expressions in the spaces of kernel files: constraints, sizes and values, in the syntax of Python and C.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deplo::engine::foreign {

/// The value of an expression. Truth values are the integers 1 and 0, as in Python.
using Scalar = std::variant<std::int64_t, double, std::string>;
using List = std::vector<Scalar>;
using Operand = std::variant<Scalar, List>;

std::string print(const Scalar&);
/// Returns true for a number other than 0, and for a non-empty text.
bool is_true(const Scalar&);
/// Compares like ==: 1 and 1.0 are equal.
bool equal(const Scalar&, const Scalar&);

/// A parsed expression. Immutable and cheap to copy. Syntax:
///   x if c else y     or and not || && !     == != < <= > >= in     | ^ & << >>     + - * / // % **     a[i]
///   numbers, texts, True, False, lists [..], (..) and [x for i in list if c], min max abs int float len round ceil
///   floor sqrt log2 range
/// Comparisons may be chained. / gives a fraction; // and % round as in Python. An integer that does not fit in 64 bits
/// is an error.
class Expression {
 public:
  struct Node;

  /// Parses a text. Messages begin with `place`. Throws Error `place: expected …, found …`.
  static Expression parse(std::string_view text, const std::string& place);
  const std::string& text() const { return text_; }
  const std::string& place() const { return place_; }
  /// Returns the names in the expression, each once, in order of appearance. Names of functions are not included.
  const std::vector<std::string>& names() const { return names_; }
  /// Returns true if the expression uses / together with operators that only C has (&& || ! ?:). C would truncate the
  /// quotient of two integers.
  bool divides_in_c() const { return divides_in_c_; }
  /// Returns the root node (engine/foreign/expression_node.h).
  const std::shared_ptr<const Node>& root() const { return root_; }
  /// Returns a part of this expression, with the same names, text and place.
  Expression part(std::shared_ptr<const Node>) const;
  /// Evaluates the expression. `values[i]` is the value of names()[i]. Throws Error, prefixed by the place, for a
  /// division by zero, an overflow, or operands of the wrong type.
  Operand evaluate(std::span<const Operand> values) const;
  /// Like evaluate(), but the result must be a single value. Throws Error if it is a list.
  Scalar scalar(std::span<const Operand> values) const;

 private:
  std::string text_, place_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;
  bool divides_in_c_ = false;
};

}  // namespace deplo::engine::foreign
