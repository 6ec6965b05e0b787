#include "ir/emit/reserved.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

namespace deplo::ir {
namespace {

// Keywords of C, C++ and OpenCL C; then functions, macros and variables in scope; then the emitter's own names.
constexpr std::array keywords =
    std::to_array<std::string_view>({"alignas",      "alignof",      "and",        "and_eq",
                                     "asm",          "auto",         "bitand",     "bitor",
                                     "bool",         "break",        "case",       "catch",
                                     "char",         "class",        "co_await",   "co_return",
                                     "co_yield",     "compl",        "complex",    "concept",
                                     "const",        "const_cast",   "consteval",  "constant",
                                     "constexpr",    "constinit",    "continue",   "decltype",
                                     "default",      "delete",       "do",         "double",
                                     "dynamic_cast", "else",         "enum",       "explicit",
                                     "export",       "extern",       "false",      "float",
                                     "for",          "friend",       "generic",    "global",
                                     "goto",         "half",         "if",         "imaginary",
                                     "inline",       "int",          "kernel",     "local",
                                     "long",         "mutable",      "namespace",  "new",
                                     "noexcept",     "not",          "not_eq",     "nullptr",
                                     "operator",     "or",           "or_eq",      "pipe",
                                     "private",      "protected",    "public",     "quad",
                                     "read_only",    "read_write",   "register",   "reinterpret_cast",
                                     "requires",     "restrict",     "return",     "short",
                                     "signed",       "sizeof",       "static",     "static_assert",
                                     "static_cast",  "struct",       "switch",     "template",
                                     "this",         "thread_local", "throw",      "true",
                                     "try",          "typedef",      "typeid",     "typename",
                                     "typeof",       "uchar",        "uint",       "ulong",
                                     "uniform",      "union",        "unsigned",   "ushort",
                                     "using",        "virtual",      "void",       "volatile",
                                     "wchar_t",      "while",        "write_only", "xor",
                                     "xor_eq"});
constexpr std::array functions = std::to_array<std::string_view>(
    {"CUtensorMap", "INFINITY", "M_PI",    "NAN",      "NULL",      "abs",    "as_float",  "as_int",  "barrier",
     "blockDim",    "blockIdx", "clamp",   "copysign", "cos",       "cosf",   "erf",       "erff",    "exp",
     "exp2",        "expf",     "fabs",    "fabsf",    "floor",     "fma",    "fmaf",      "fmax",    "fmaxf",
     "fmin",        "fminf",    "gridDim", "isequal",  "isgreater", "isless", "log",       "logf",    "main",
     "max",         "min",      "pow",     "powf",     "printf",    "rsqrt",  "rsqrtf",    "select",  "sin",
     "sinf",        "sqrt",     "sqrtf",   "tan",      "tanh",      "tanhf",  "threadIdx", "warpSize"});
constexpr std::array own = std::to_array<std::string_view>(
    {"block", "elect_one", "max_nan", "min_nan", "prefetch_tensor_map", "smem", "thread", "warp", "zero"});

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

/// True for vector types such as "float4" and "uint16".
bool is_vector_type(std::string_view name) {
  const std::size_t digit = name.find_first_of("0123456789");
  if (digit == std::string_view::npos || digit == 0) return false;
  constexpr std::array scalars = std::to_array<std::string_view>(
      {"char", "double", "float", "half", "int", "long", "short", "uchar", "uint", "ulong", "ushort"});
  constexpr std::array lanes = std::to_array<std::string_view>({"1", "16", "2", "3", "4", "8"});
  return contains(scalars, name.substr(0, digit)) && contains(lanes, name.substr(digit));
}

}  // namespace

bool is_reserved(std::string_view name) {
  return contains(keywords, name) || contains(functions, name) || contains(own, name) || is_vector_type(name) ||
         starts_with_any(name, {"__",        "CLK_",           "atomic",     "bf16_",     "cl_",        "cluster_load_",
                                "convert_",  "cp_async_",      "f16_",       "get_",      "ld_matrix_", "mbarrier_",
                                "mma_",      "native_",        "round_bf16", "round_f16", "round_tf32", "simd_",
                                "tma_load_", "tma_multicast_", "vload",      "vstore",    "wgmma_"});
}

}  // namespace deplo::ir
