// Expressions of kernel files' spaces: constraints, sizes and values, as Python and C write them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deplo::engine::foreign {

/// What an expression gives. Truth values are the integers 1 and 0, as in Python.
using Scalar = std::variant<std::int64_t, double, std::string>;
using List = std::vector<Scalar>;
using Operand = std::variant<Scalar, List>;

std::string print(const Scalar&);
/// A number that is not 0, or a text that is not empty.
bool is_true(const Scalar&);
/// As ==, where 1 and 1.0 are equal.
bool equal(const Scalar&, const Scalar&);

/// A parsed expression. Immutable, cheap to copy.
///   x if c else y     or and not || && !     == != < <= > >= in     | ^ & << >>     + - * / // % **     a[i]
///   numbers, texts, True, False, lists [..], (..) and [x for i in list if c], min max abs int float len round ceil
///   floor sqrt log2 range
/// Comparisons may be chained. / gives a fraction, // and % are Python's. An integer that leaves 64 bits is an error.
class Expression {
 public:
  struct Node;

  /// `place` begins messages. Throws Error `place: expected …, found …`.
  static Expression parse(std::string_view text, const std::string& place);
  const std::string& text() const { return text_; }
  const std::string& place() const { return place_; }
  /// The names in it, each once, in order. Functions are not among them.
  const std::vector<std::string>& names() const { return names_; }
  /// Does it use / together with operators that only C has (&& || ! ?:)? C would round the quotient of integers.
  bool divides_in_c() const { return divides_in_c_; }
  /// Its nodes are in engine/foreign/expression_node.h.
  const std::shared_ptr<const Node>& root() const { return root_; }
  /// A part of it, with the same names, text and place.
  Expression part(std::shared_ptr<const Node>) const;
  /// `values[i]` is the value of names()[i]. Throws Error, prefixed by the place, for a division by zero, an overflow
  /// or operands that do not fit.
  Operand evaluate(std::span<const Operand> values) const;
  /// The same where a single value is expected.
  Scalar scalar(std::span<const Operand> values) const;

 private:
  std::string text_, place_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;
  bool divides_in_c_ = false;
};

}  // namespace deplo::engine::foreign
