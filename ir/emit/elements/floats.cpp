// Arithmetic of floats. 16-bit types are computed in f32 and then rounded. For +, -, x, / and the square root, this
// equals the exact result rounded once (Figueroa: When is double rounding innocuous?, 1995).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "ir/emit/elements/integers.h"
#include "ir/emit/elements/rows.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::elements {
namespace {

bool is_double(const Call& c) { return c.result() == DType::f64; }

bool flushes(const Call& c) {
  const auto is_flush = [](const tile_program::AttributeForm& a) { return a.name == "flush_to_zero"; };
  return std::ranges::any_of(c.compute.op->attributes, is_flush) && c.number("flush_to_zero") != 0;
}

bool is_directed(Rounding rounding) {
  return rounding == Rounding::zero || rounding == Rounding::negative_inf || rounding == Rounding::positive_inf;
}

/// Returns an operand as the operation reads it: with subnormals flushed to 0 if the operation says so.
std::string input(Call& c, std::size_t operand) {
  const std::string value = c.args[operand];
  return flushes(c) ? c.named("f32", "flushed(" + value + ")") : value;
}

std::string output(const Call& c, const std::string& value) {
  return rounded(flushes(c) ? "flushed(" + value + ")" : value, c.result());
}

/// Returns the rounding suffix of CUDA's intrinsics, such as "rn". Approximate modes use "rn", because they allow
/// approximations but do not require them. Directed modes need CUDA's intrinsics for f32 and f64: OpenCL C's operators
/// and the rounding from f32 to 16 bits only round to nearest.
std::string_view rounding_suffix(const Call& c) {
  const auto rounding = static_cast<Rounding>(c.number("rounding_mode"));
  if (!is_directed(rounding)) return "rn";
  CHECK(c.words.intrinsics);  // unsupported() rejects all other cases
  return rounding == Rounding::zero ? "rz" : rounding == Rounding::negative_inf ? "rd" : "ru";
}

/// Returns an arithmetic operation. CUDA's intrinsics are never contracted to an fma.
template <char operation>
std::string arithmetic(Call& c) {
  const std::string_view suffix = rounding_suffix(c);
  const std::string a = input(c, 0), b = input(c, 1);
  constexpr std::string_view word = operation == '+'   ? "add"
                                    : operation == '-' ? "sub"
                                    : operation == '*' ? "mul"
                                                       : "div";
  return output(c, c.words.intrinsics ? fmt::format("__{}{}_{}({}, {})", is_double(c) ? 'd' : 'f', word, suffix, a, b)
                                      : fmt::format("{} {} {}", a, operation, b));
}

std::string fma(Call& c) {
  const std::string_view suffix = rounding_suffix(c);
  const std::string a = input(c, 0), b = input(c, 1), sum = input(c, 2);
  return output(c, c.words.intrinsics
                       ? fmt::format("__fma{}_{}({}, {}, {})", is_double(c) ? "" : "f", suffix, a, b, sum)
                       : fmt::format("fma({}, {}, {})", a, b, sum));
}

std::string root(Call& c) {
  const std::string_view suffix = rounding_suffix(c);
  const std::string a = input(c, 0);
  return output(c, c.words.intrinsics ? fmt::format("__{}sqrt_{}({})", is_double(c) ? 'd' : 'f', suffix, a)
                                      : fmt::format("sqrt({})", a));
}

/// A function of the language's library. The names of CUDA's f32 functions end with f.
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

std::string call(Call& c) {
  const auto* function = std::find_if(library.begin(), library.end(),
                                      [&](const LibraryFunction& f) { return f.operation == c.compute.op->name; });
  std::string text =
      fmt::format("{}{}({}", function->name, c.words.intrinsics && !is_double(c) ? "f" : "", input(c, 0));
  if (c.args.size() == 2) text += ", " + input(c, 1);
  return output(c, text + ")");
}

/// Computes the sign from the parity of the integer exponent, because f32 has no odd numbers above 2^24.
std::string integer_power(Call& c) {
  const int w = width(c.types[1]);
  const std::string x = c.named(is_double(c) ? "f64" : "f32", c.args[0]);
  const std::string n = c.named("i64", extended(c.args[1], w, true));
  const std::string_view f = c.words.intrinsics && !is_double(c) ? "f" : "";
  const std::string power = c.named(is_double(c) ? "f64" : "f32",
                                    fmt::format("pow{}(fabs{}({}), ({}){})", f, f, x, is_double(c) ? "f64" : "f32", n));
  return output(c, fmt::format("(({} & 1) != 0 ? copysign{}({}, {}) : {})", n, f, power, x, power));
}

std::string negate(Call& c) { return "-" + c.args[0]; }

template <bool minimum>
std::string extreme(Call& c) {
  const std::string a = input(c, 0), b = input(c, 1);
  const std::string function =
      fmt::format("{}{}_{}", minimum ? "smaller" : "larger", c.number("propagate_nan") != 0 ? "_or_nan" : "",
                  is_double(c) ? "f64" : "f32");
  return output(c, fmt::format("{}({}, {})", function, a, b));
}

/// If an operand is a NaN, an unordered comparison is true and an ordered one false.
std::string compare(Call& c) {
  static constexpr std::array<std::string_view, 6> operators = {"==", "!=", "<", "<=", ">", ">="};
  const std::string a = c.args[0], b = c.args[1];
  const std::string compared =
      fmt::format("{} {} {}", a, operators.at(static_cast<std::size_t>(c.number("comparison_predicate"))), b);
  const bool ordered = c.number("comparison_ordering") != 0;
  return ordered ? fmt::format("(u8)({0} == {0} && {1} == {1} && {2})", a, b, compared)
                 : fmt::format("(u8)({0} != {0} || {1} != {1} || {2})", a, b, compared);
}

}  // namespace

std::string unsupported_rounding(const Compute& compute, const Words& words) {
  const DType element = compute.dtype;
  const auto rounding = static_cast<Rounding>(compute.number("rounding_mode"));
  if (!is_directed(rounding) || (words.intrinsics && (element == DType::f32 || element == DType::f64))) return "";
  return fmt::format("expected rounding nearest_even of {} in {}, found {}", tile_name(element), words.language,
                     tile_program::enumeration("rounding").words[static_cast<std::size_t>(rounding)]);
}

std::vector<Row> float_rows() {
  std::vector<Row> rows = {{"addf", arithmetic<'+'>, unsupported_rounding},
                           {"subf", arithmetic<'-'>, unsupported_rounding},
                           {"mulf", arithmetic<'*'>, unsupported_rounding},
                           {"divf", arithmetic<'/'>, unsupported_rounding},
                           {"fma", fma, unsupported_rounding},
                           {"sqrt", root, unsupported_rounding},
                           {"negf", negate},
                           {"fpowi", integer_power},
                           {"maxf", extreme<false>},
                           {"minf", extreme<true>},
                           {"cmpf", compare}};
  for (const LibraryFunction& f : library) rows.push_back({f.operation, call});
  return rows;
}

}  // namespace deplo::ir::elements
