// Arithmetic of floats. 16-bit types are calculated in f32 and rounded: of +, -, x, / and the root that is the exact
// result rounded once (Figueroa: When is double rounding innocuous?, 1995).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/integers.h"
#include "ir/emit/tile_program/rows.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::tile_program::blocks {
namespace {

bool is_double(const Emitter& e, const Operation& op) { return e.result_type(op).element == DType::f64; }

bool flushes(const Operation& op) {
  const auto is_flush = [](const AttributeForm& a) { return a.name == "flush_to_zero"; };
  return std::any_of(op.form->attributes.begin(), op.form->attributes.end(), is_flush) &&
         op.number("flush_to_zero") != 0;
}

/// As the operation reads a number: without subnormals where it says so.
std::string input(Emitter& e, const Operation& op, std::size_t operand, const At& at) {
  const std::string value = e.element(op.operands[operand], at);
  return flushes(op) ? e.named("f32", "flushed(" + value + ")") : value;
}

std::string output(Emitter& e, const Operation& op, const std::string& value) {
  return rounded(flushes(op) ? "flushed(" + value + ")" : value, e.result_type(op).element);
}

/// "_rn" of CUDA's intrinsics. Approximations are no more than allowed. OpenCL C has operators that round to the nearest
/// alone, and its target of 16 bits is rounded from f32 that way.
std::string_view rounding_suffix(const Emitter& e, const Operation& op) {
  const auto rounding = static_cast<Rounding>(op.number("rounding_mode"));
  const bool directed =
      rounding == Rounding::zero || rounding == Rounding::negative_inf || rounding == Rounding::positive_inf;
  if (!directed) return "rn";
  const DType element = e.result_type(op).element;
  if (!e.cuda() || (element != DType::f32 && element != DType::f64))
    e.refuse(op, fmt::format("expected rounding nearest_even of {} in {}, found {}", tile_name(element),
                             e.cuda() ? "CUDA C++" : "OpenCL C",
                             enumeration("rounding").words[static_cast<std::size_t>(rounding)]));
  return rounding == Rounding::zero ? "rz" : rounding == Rounding::negative_inf ? "rd" : "ru";
}

/// Intrinsics are never contracted to an fma.
template <char operation>
std::string arithmetic(Emitter& e, const Operation& op, const At& at) {
  const std::string_view suffix = rounding_suffix(e, op);
  const std::string a = input(e, op, 0, at), b = input(e, op, 1, at);
  constexpr std::string_view word = operation == '+'   ? "add"
                                    : operation == '-' ? "sub"
                                    : operation == '*' ? "mul"
                                                       : "div";
  return output(e, op,
                e.cuda() ? fmt::format("__{}{}_{}({}, {})", is_double(e, op) ? 'd' : 'f', word, suffix, a, b)
                         : fmt::format("{} {} {}", a, operation, b));
}

std::string fma(Emitter& e, const Operation& op, const At& at) {
  const std::string_view suffix = rounding_suffix(e, op);
  const std::string a = input(e, op, 0, at), b = input(e, op, 1, at), c = input(e, op, 2, at);
  return output(e, op,
                e.cuda() ? fmt::format("__fma{}_{}({}, {}, {})", is_double(e, op) ? "" : "f", suffix, a, b, c)
                         : fmt::format("fma({}, {}, {})", a, b, c));
}

std::string root(Emitter& e, const Operation& op, const At& at) {
  const std::string_view suffix = rounding_suffix(e, op);
  const std::string a = input(e, op, 0, at);
  return output(
      e, op,
      e.cuda() ? fmt::format("__{}sqrt_{}({})", is_double(e, op) ? 'd' : 'f', suffix, a) : fmt::format("sqrt({})", a));
}

/// A function of the language's library; CUDA's of f32 ends with f.
struct LibraryFunction {
  std::string_view operation, name;
};
constexpr std::array<LibraryFunction, 17> library = {{{"absf", "fabs"},
                                                      {"atan2", "atan2"},
                                                      {"ceil", "ceil"},
                                                      {"cos", "cos"},
                                                      {"cosh", "cosh"},
                                                      {"exp", "exp"},
                                                      {"exp2", "exp2"},
                                                      {"floor", "floor"},
                                                      {"log", "log"},
                                                      {"log2", "log2"},
                                                      {"pow", "pow"},
                                                      {"remf", "fmod"},
                                                      {"rsqrt", "rsqrt"},
                                                      {"sin", "sin"},
                                                      {"sinh", "sinh"},
                                                      {"tan", "tan"},
                                                      {"tanh", "tanh"}}};

std::string call(Emitter& e, const Operation& op, const At& at) {
  const auto* function = std::find_if(library.begin(), library.end(),
                                      [&](const LibraryFunction& f) { return f.operation == op.form->name; });
  std::string text =
      fmt::format("{}{}({}", function->name, e.cuda() && !is_double(e, op) ? "f" : "", input(e, op, 0, at));
  if (op.operands.size() == 2) text += ", " + input(e, op, 1, at);
  return output(e, op, text + ")");
}

/// The sign is that of an odd power, because f32 has no odd exponents above 2^24.
std::string integer_power(Emitter& e, const Operation& op, const At& at) {
  const int w = width(e.type(op.operands[1]).element);
  const std::string x = e.named(is_double(e, op) ? "f64" : "f32", e.element(op.operands[0], at));
  const std::string n = e.named("i64", extended(e.element(op.operands[1], at), w, true));
  const std::string_view f = e.cuda() && !is_double(e, op) ? "f" : "";
  const std::string power = e.named(is_double(e, op) ? "f64" : "f32", fmt::format("pow{}(fabs{}({}), ({}){})", f, f, x,
                                                                                  is_double(e, op) ? "f64" : "f32", n));
  return output(e, op, fmt::format("(({} & 1) != 0 ? copysign{}({}, {}) : {})", n, f, power, x, power));
}

std::string negate(Emitter& e, const Operation& op, const At& at) { return "-" + e.element(op.operands[0], at); }

template <bool least>
std::string extreme(Emitter& e, const Operation& op, const At& at) {
  const std::string a = input(e, op, 0, at), b = input(e, op, 1, at);
  const std::string function =
      fmt::format("{}{}_{}", least ? "smaller" : "larger", op.number("propagate_nan") != 0 ? "_or_nan" : "",
                  is_double(e, op) ? "f64" : "f32");
  return output(e, op, fmt::format("{}({}, {})", function, a, b));
}

/// Unordered: true where one is a NaN.
std::string compare(Emitter& e, const Operation& op, const At& at) {
  static constexpr std::array<std::string_view, 6> operators = {"==", "!=", "<", "<=", ">", ">="};
  const std::string a = e.element(op.operands[0], at), b = e.element(op.operands[1], at);
  const std::string compared =
      fmt::format("{} {} {}", a, operators.at(static_cast<std::size_t>(op.number("comparison_predicate"))), b);
  const bool ordered = op.number("comparison_ordering") != 0;
  return ordered ? fmt::format("(u8)({0} == {0} && {1} == {1} && {2})", a, b, compared)
                 : fmt::format("(u8)({0} != {0} || {1} != {1} || {2})", a, b, compared);
}

}  // namespace

std::vector<Row> float_rows() {
  std::vector<Row> rows = {{"addf", arithmetic<'+'>},
                           {"subf", arithmetic<'-'>},
                           {"mulf", arithmetic<'*'>},
                           {"divf", arithmetic<'/'>},
                           {"fma", fma},
                           {"sqrt", root},
                           {"negf", negate},
                           {"fpowi", integer_power},
                           {"maxf", extreme<false>},
                           {"minf", extreme<true>},
                           {"cmpf", compare}};
  for (const LibraryFunction& f : library) rows.push_back({f.operation, call});
  return rows;
}

}  // namespace deplo::ir::tile_program::blocks
