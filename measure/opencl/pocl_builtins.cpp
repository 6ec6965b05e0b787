// The declarations follow Clang 15's opencl-c.h. `const` and `pure` say what a function reads; `convergent` means that
// a call may not be moved into or out of a branch.
#include "measure/opencl/pocl_builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <span>
#include <vector>

#include "core/text/characters.h"
#include "core/text/one_of.h"

namespace deplo::measure::opencl {
namespace {

constexpr std::string_view of_values = "__attribute__((overloadable, const))",
                           of_memory = "__attribute__((overloadable, pure))", any = "__attribute__((overloadable))";

constexpr std::array lanes = {1, 2, 3, 4, 8, 16};
constexpr std::span<const int> vectors = std::span(lanes).subspan<1>();
constexpr std::array<std::string_view, 10> all_types = {"char", "uchar", "short", "ushort", "int",
                                                        "uint", "long",  "ulong", "float",  "double"};
constexpr std::span<const std::string_view> integers = std::span(all_types).first<8>(),
                                            floats = std::span(all_types).last<2>();
constexpr std::array<std::string_view, 4> spaces = {"__constant", "__global", "__local", "__private"};

std::string vector(std::string_view type, int count) {
  return count == 1 ? std::string(type) : fmt::format("{}{}", type, count);
}

/// Returns declarations such as "float4 fma(float4, float4, float4);" for all scalars and vectors of these types.
std::string of_one_type(std::string_view name, int arguments, std::span<const std::string_view> types) {
  std::string text;
  for (const std::string_view type : types)
    for (const int n : lanes) {
      const std::string v = vector(type, n);
      text += fmt::format("{} {} {}({}", v, of_values, name, v);
      for (int i = 1; i < arguments; ++i) text += ", " + v;
      text += ");\n";
    }
  return text;
}

/// The same for functions of two arguments. If the first argument is a vector, the second may also be a scalar.
std::string with_scalar(std::string_view name, std::span<const std::string_view> types) {
  std::string text = of_one_type(name, 2, types);
  for (const std::string_view type : types)
    for (const int n : vectors) text += fmt::format("{0} {1} {2}({0}, {3});\n", vector(type, n), of_values, name, type);
  return text;
}

std::string select_functions() {
  struct Width {
    std::string_view chosen, by, by_unsigned;
  };
  constexpr std::array widths = {Width{"char", "char", "uchar"},    Width{"uchar", "char", "uchar"},
                                 Width{"short", "short", "ushort"}, Width{"ushort", "short", "ushort"},
                                 Width{"int", "int", "uint"},       Width{"uint", "int", "uint"},
                                 Width{"float", "int", "uint"},     Width{"long", "long", "ulong"},
                                 Width{"ulong", "long", "ulong"},   Width{"double", "long", "ulong"}};
  std::string text;
  for (const auto& [chosen, by, by_unsigned] : widths)
    for (const int n : lanes)
      for (const std::string_view condition : {by, by_unsigned})
        text += fmt::format("{0} {1} select({0}, {0}, {2});\n", vector(chosen, n), of_values, vector(condition, n));
  return text;
}

std::string isnan_functions() {
  std::string text = fmt::format("int {} isnan(double);\n", of_values);  // for scalars the result is an int
  for (const int n : lanes) text += fmt::format("{} {} isnan({});\n", vector("int", n), of_values, vector("float", n));
  for (const int n : vectors)
    text += fmt::format("{} {} isnan({});\n", vector("long", n), of_values, vector("double", n));
  return text;
}

/// Returns the declarations of a conversion such as "convert_uint16" or "convert_int_rtz", from all types.
std::string conversions(std::string_view name) {
  std::string_view to = name.substr(name.find('_') + 1);
  to = to.substr(0, to.find('_'));
  const std::size_t digit = to.find_first_of("0123456789");
  const int n = digit == std::string_view::npos ? 1 : std::atoi(std::string(to.substr(digit)).c_str());
  std::string text;
  for (const std::string_view type : all_types)
    text += fmt::format("{} {} {}({});\n", to, of_values, name, vector(type, n));
  return text;
}

/// Returns the declarations of a vector load or store such as "vload2" or "vstore16".
std::string moves(std::string_view name) {
  const bool loads = name.starts_with("vload");
  const std::string_view n = name.substr(loads ? 5 : 6);
  std::string text;
  for (const std::string_view type : all_types)
    for (const std::string_view space : spaces) {
      if (loads) text += fmt::format("{0}{1} {2} {3}(size_t, const {4} {0}*);\n", type, n, of_memory, name, space);
      if (!loads && space != "__constant")
        text += fmt::format("void {2} {3}({0}{1}, size_t, {4} {0}*);\n", type, n, any, name, space);
    }
  return text;
}

/// Returns the declarations of a load or store of halves such as "vload_half", "vload_half8" or "vstore_half16_rte".
std::string half_moves(std::string_view name) {
  const bool loads = name.starts_with("vload");
  std::string_view n = name.substr(loads ? 10 : 11);
  n = n.substr(0, n.find('_'));
  std::string text;
  for (const std::string_view space : spaces) {
    if (loads) text += fmt::format("float{} {} {}(size_t, const {} half*);\n", n, of_memory, name, space);
    if (!loads && space != "__constant")
      for (const std::string_view type : floats)
        text += fmt::format("void {} {}({}{}, size_t, {} half*);\n", any, name, type, n, space);
  }
  return text;
}

/// Returns the declarations of an atomic operation such as "atomic_add" or "atom_cmpxchg".
std::string atomics(std::string_view name) {
  const bool two = name.ends_with("_cmpxchg"), floats_too = name == "atomic_xchg", wide = name.starts_with("atom_");
  std::vector<std::string_view> types = {"int", "uint"};
  if (floats_too) types.push_back("float");
  if (wide) types.insert(types.end(), {"long", "ulong"});
  std::string text;
  for (const std::string_view type : types)
    for (const std::string_view space : {"__global", "__local"})
      text += fmt::format("{0} {1} {2}(volatile {3} {0}*, {0}{4});\n", type, any, name, space,
                          two ? fmt::format(", {}", type) : "");
  return text;
}

/// Returns the declarations of a function that the emitter calls (ir/emit); "" if the function is not known here.
std::string declarations(std::string_view name) {
  constexpr std::array<std::string_view, 16> of_one = {"ceil", "cos",  "cosh",  "erf", "exp",  "exp2", "fabs", "floor",
                                                       "log",  "log2", "rsqrt", "sin", "sinh", "sqrt", "tan",  "tanh"};
  constexpr std::array<std::string_view, 3> ids = {"get_global_id", "get_group_id", "get_local_id"};
  constexpr std::array<std::string_view, 4> of_two = {"atan2", "copysign", "fmod", "pow"};
  constexpr std::array<std::string_view, 11> of_atomics = {"atomic_add", "atomic_and",   "atomic_cmpxchg", "atomic_max",
                                                           "atomic_min", "atomic_or",    "atomic_xchg",    "atomic_xor",
                                                           "atom_add",   "atom_cmpxchg", "atom_xchg"};
  if (is_one_of(name, ids)) return fmt::format("size_t {} {}(uint);\n", of_values, name);
  if (is_one_of(name, of_one)) return of_one_type(name, 1, floats);
  if (is_one_of(name, of_two)) return of_one_type(name, 2, floats);
  if (name == "fma") return of_one_type(name, 3, floats);
  if (name == "min" || name == "max") return with_scalar(name, integers) + with_scalar(name, floats);
  if (name == "mul_hi") return of_one_type(name, 2, integers);
  if (name == "select") return select_functions();
  if (name == "isnan") return isnan_functions();
  if (is_one_of(name, of_atomics)) return atomics(name);
  if (name == "barrier") return "void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);\n";
  if (name == "mem_fence") return fmt::format("void {} mem_fence(cl_mem_fence_flags);\n", any);
  if (name.starts_with("convert_")) return conversions(name);
  if (name.starts_with("vload_half") || name.starts_with("vstore_half")) return half_moves(name);
  if (name.starts_with("vload") || name.starts_with("vstore")) return moves(name);
  return "";
}

/// Returns the name that ends at `end` or is separated from it only by spaces; "" if there is none.
std::string_view name_before(std::string_view source, std::size_t end) {
  while (end > 0 && source[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_word_char(source[begin - 1])) --begin;
  return source.substr(begin, end - begin);
}

struct Names {
  std::set<std::string_view> called, defined;
};
/// Finds the names in front of a parenthesis. A name counts as defined if it follows another name, which is its type,
/// or if it is a macro.
Names names_of(std::string_view source) {
  Names names;
  constexpr std::string_view define = "#define ";
  for (std::size_t at = source.find(define); at != std::string_view::npos; at = source.find(define, at + 1)) {
    const std::string_view rest = source.substr(at + define.size());
    names.defined.insert(
        rest.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word_char) - rest.begin())));
  }
  for (std::size_t open = source.find('('); open != std::string_view::npos; open = source.find('(', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && is_word_char(source[begin - 1])) --begin;
    if (begin == open) continue;
    const std::string_view name = source.substr(begin, open - begin), before = name_before(source, begin);
    (before.empty() || before == "return" || before == "else" ? names.called : names.defined).insert(name);
  }
  return names;
}

/// True for keywords, attributes, numbers, Clang's own functions, and the functions of opencl-c-base.h, which is always
/// included.
bool needs_no_declaration(std::string_view name) {
  constexpr std::array<std::string_view, 9> words = {
      "aligned", "defined", "for", "if", "printf", "reqd_work_group_size", "sizeof", "switch", "while"};
  return is_one_of(name, words) || name.starts_with("__") || name.starts_with("as_") || is_digit(name[0]);
}

}  // namespace

std::optional<std::string> builtins_of(std::string_view source) {
  std::string text;
  const Names names = names_of(source);
  for (const std::string_view name : names.called) {
    if (names.defined.contains(name) || needs_no_declaration(name)) continue;
    const std::string declared = declarations(name);
    if (declared.empty()) return std::nullopt;
    text += declared;
  }
  return text + "#line 1\n";
}

}  // namespace deplo::measure::opencl
