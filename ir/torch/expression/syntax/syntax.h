// The syntax tree of the expression language: plain values with views into the text.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace deplo::ir::torch::python {

struct Place {
  std::size_t line = 1, column = 1;  // column in bytes
};

/// An Error whose message already contains its place.
struct PlacedError : Error {
  using Error::Error;
};
/// Throws PlacedError `where:line:column: message`.
[[noreturn]] void fail(std::string_view where, Place, std::string_view message);

/// Greatest depth of a tree. A chain of operators or of method calls is as deep as it is long.
inline constexpr int max_levels = 200;
inline constexpr std::size_t max_bytes = 1'000'000;
inline constexpr std::size_t max_name_bytes = 100;

struct Statement;

struct Expr {
  // The children by kind. unary: operand. binary: both sides. compare: two sides or more. logic (`and`, `or`): both
  // sides. conditional: test, value, other value. attribute: object. subscript: object, index. slice: start, stop, step
  // (absent if omitted). call: function, arguments. star, star_star: the sequence or the dict. joined: the parts of a
  // string. placeholder: the value in an f-string. dict: key, value, …; if a key is absent, all items of the value.
  // comprehension: the clauses, then the element (dict: key, value). clause: target, sequence, conditions. assigned
  // (`:=`): name, value.
  enum class Kind : std::uint8_t {
    absent,
    integer,
    real,
    imaginary,
    string,
    escaped,  // a string with escapes
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
    call,
    star_star,
    logic,
    conditional,
    lambda,
    dict,
    set,
    comprehension,
    clause,
    joined,
    placeholder,
    assigned
  };
  // The comments of the members name the kinds that use the member.
  Kind kind = Kind::absent;
  int depth = 1;
  Place place;  // binary: place of the operator; attribute and its call: place of the name; subscript: place of `[`
  std::string_view
      text;           // name, string, escaped, attribute, operator; placeholder: its format; comprehension: its bracket
  double number = 0;  // value of a real, or of an imaginary number without its j
  std::int64_t integer = 0;
  std::vector<Expr> children;
  std::vector<std::string_view> keywords;     // call: one per argument, "" if positional; compare: the operators
  std::shared_ptr<const Statement> function;  // function of a lambda
};

struct Parameter {
  enum class Kind : std::uint8_t { plain, keyword_only, rest, keywords };  // rest: *args; keywords: **kwargs
  std::string_view name;
  Expr value;  // absent if there is no default
  Kind kind = Kind::plain;
};

struct Statement {
  enum class Kind : std::uint8_t {
    expression,
    assign,
    augment,
    give_back,
    pass,
    import,
    define,
    declare,
    choose,  // `if`: its arms are the body
    select,  // `match`: its cases are arms of the body
    arm,
    loop_for,
    loop_while,
    leave,    // break
    resume,   // continue
    require,  // assert
    refuse,   // raise
    with,
    attempt,  // `try`: its block and its handlers are arms of the body
    remove,   // del
    outer,    // global, nonlocal
    produce   // yield
  };
  // The comments of the members name the kinds that use the member.
  Kind kind = Kind::pass;
  Place place;
  Place end;  // simple statements: the place after the last token
  // define, declare; import, arm: the name bound; augment: the operator without `=`; produce: "from" of `yield from`
  std::string_view name;
  std::string module;  // import: the module, such as "torch.nn"
  // assign, augment, loop_for, remove; declare: the bases; with: a name or absent for each; arm of select: the pattern,
  // and the name after `as`
  std::vector<Expr> targets;
  // expression, assign, augment, give_back and produce (may be absent), select; arm (absent for `else`), loop_while,
  // require: the condition; arm of select: the condition after `if`, or absent; arm of attempt: the exceptions;
  // loop_for: the sequence; refuse; with: a tuple
  Expr value;
  std::vector<Parameter> parameters;        // define
  bool produces = false;                    // define: whether the body has a `yield`
  std::vector<Statement> body;              // define, declare, choose, select, arm, loops, with, attempt
  std::vector<Statement> otherwise;         // loops, attempt: the `else` block, which runs if no `break` ended the loop
  std::vector<Statement> last;              // attempt: the `finally` block
  std::vector<Expr> extras;                 // define, declare: decorators; require: the message, if there is one
  std::vector<std::string_view> names;      // outer
  std::vector<std::string_view> annotated;  // assign, pass: variables with an annotation
};

/// Returns the text of a string with its escapes replaced. An unknown escape stays as it is, as in Python. Throws Error
/// for names of characters and for characters without all their digits.
std::string unescaped(std::string_view);

/// Parses a program. Throws PlacedError.
std::vector<Statement> parse(std::string_view text, std::string_view where);

}  // namespace deplo::ir::torch::python
