// The syntax tree of the expression language: plain values with views into the text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace deplo::ir::torch::python {

struct Place {
  std::size_t line = 1, column = 1;  // column in bytes
};

/// An Error whose message has its place already.
struct PlacedError : Error {
  using Error::Error;
};
/// Throws PlacedError `where:line:column: message`.
[[noreturn]] void fail(std::string_view where, Place, std::string_view message);

/// Greatest depth of a tree. A chain of operators or of method calls is as deep as it is long.
inline constexpr int most_levels = 200;
inline constexpr std::size_t most_bytes = 1'000'000;
inline constexpr std::size_t most_name_bytes = 100;

struct Expr {
  // The children by kind. unary: operand. binary, compare: both sides. attribute: object. subscript: object, index.
  // slice: start, stop, step (absent if omitted). call: function, arguments. star: the sequence.
  enum class Kind : std::uint8_t {
    absent,
    integer,
    real,
    string,
    name,
    dots,
    tuple,
    list,
    star,
    unary,
    binary,
    compare,
    attribute,
    subscript,
    slice,
    call
  };
  Kind kind = Kind::absent;
  int depth = 1;
  Place place;  // binary: of the operator; attribute, and its call: of the attribute's name; subscript: of `[`
  std::string_view text;  // name, string, attribute, operator
  double number = 0;      // real
  std::int64_t integer = 0;
  std::vector<Expr> children;
  std::vector<std::string_view> keywords;  // call: one per argument, "" if positional
};

struct Parameter {
  std::string_view name;
  Expr value;  // absent: none
};

struct Statement {
  enum class Kind : std::uint8_t { expression, assign, augment, give_back, pass, import, define, declare };
  Kind kind = Kind::pass;
  Place place;
  std::string_view name;              // define, declare; import: the name bound; augment: the operator without `=`
  std::string module;                 // import: "torch.nn"
  std::vector<Expr> targets;          // assign, augment
  Expr value;                         // expression, assign, augment, give_back (may be absent); declare: the base
  std::vector<Parameter> parameters;  // define
  std::vector<Statement> body;        // define, declare
};

/// Throws PlacedError.
std::vector<Statement> parse(std::string_view text, std::string_view where);

}  // namespace deplo::ir::torch::python
