#include "ir/emit/dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/error.h"
#include "ir/types/float16.h"

namespace deplo::ir {

namespace {

constexpr Speller opencl = {.dialect = Dialect::opencl,
                            .index_type = "int",
                            .long_type = "long",
                            .long_suffix = "L",
                            .half_type = "ushort",
                            .byte_type = "uchar",
                            .signed_byte_type = "char",
                            .to_unsigned = "as_u{}({})",
                            .to_signed = "as_{}({})",
                            .infinity = "INFINITY",
                            .float_function = "",
                            .kernel_head = "__kernel __attribute__((reqd_work_group_size({}, 1, 1))){}\nvoid {}(",
                            .global_in = "__global const",
                            .global_out = "__global",
                            .restricted = "restrict",
                            .shared = "__local",
                            .aligned = "__attribute__((aligned({})))",
                            .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
                            .block_id = "get_group_id(0)",
                            .thread_id = "get_local_id(0)",
                            .full_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                            .lane = "{}.s{:x}",
                            .integer_add = "atomic_add",
                            .adds_floats = false,
                            .vectors = true,
                            .ptx = false,
                            .keeps_nan = false};
// NVRTC has no INFINITY without a header.
constexpr Speller cuda = {.dialect = Dialect::cuda,
                          .index_type = "int",
                          .long_type = "long long",
                          .long_suffix = "LL",
                          .half_type = "unsigned short",
                          .byte_type = "unsigned char",
                          .signed_byte_type = "signed char",
                          .to_unsigned = "(unsigned {}){}",
                          .to_signed = "({})({})",
                          .infinity = "__int_as_float(0x7f800000)",
                          .float_function = "f",
                          .kernel_head = "extern \"C\" __global__ __launch_bounds__({}){}\nvoid {}(",
                          .global_in = "const",
                          .global_out = "",
                          .restricted = "__restrict__",
                          .shared = "__shared__",
                          .aligned = "__align__({})",
                          .barrier = "__syncthreads();",
                          .block_id = "blockIdx.x",
                          .thread_id = "threadIdx.x",
                          .full_barrier = "__syncthreads();",
                          .lane = "{}_{}",
                          .integer_add = "atomicAdd",
                          .adds_floats = true,
                          .vectors = false,
                          .ptx = true,
                          .keeps_nan = true};
// On a CPU, 64-bit indices let the compiler fold offsets into addressing modes, while 32-bit ones cost a sign extension
// per access (docs/performance.md). On GPUs, 64-bit integer arithmetic is slower, so it is used only if an index needs
// it.
constexpr Speller opencl_cpu = [] {
  Speller result = opencl;
  result.index_type = result.long_type;
  return result;
}();

}  // namespace

const Speller& speller(Dialect dialect) {
  switch (dialect) {
    case Dialect::opencl:
      return opencl;
    case Dialect::cuda:
      return cuda;
  }
  check_failed("the dialect is known", __FILE__, __LINE__);
}

const Speller& speller(const Target& target) {
  return target.cpu && target.dialect == Dialect::opencl ? opencl_cpu : speller(target.dialect);
}

namespace {

// Returns the type of 16-bit elements. A dialect without vector types holds pairs of them in 32-bit words.
std::string float16_element(int lanes, const Speller& spell) {
  if (lanes == 1) return std::string(spell.half_type);
  if (spell.vectors) return fmt::format("{}{}", spell.half_type, lanes);
  CHECK(lanes <= 8);
  return lanes == 2 ? "unsigned" : fmt::format("uint{}", lanes / 2);
}

}  // namespace

std::string type_name(Type type, Dialect dialect) {
  if (is_float16(type.dtype)) return element_name(type, dialect);  // the type of its bits, which are only moved
  const Speller& spell = speller(dialect);
  const std::string scalar(type.dtype == DType::f32 ? "float" : type.dtype == DType::i64 ? spell.long_type : "int");
  return type.lanes == 1 || !spell.vectors ? scalar : scalar + std::to_string(type.lanes);
}

std::string element_name(Type type, Dialect dialect) {
  const std::string lanes = type.lanes == 1 ? "" : std::to_string(type.lanes);
  if (is_float16(type.dtype)) return float16_element(type.lanes, speller(dialect));
  if (type.dtype == DType::i16) return "short" + lanes;
  if (bytes(type.dtype) != 1) return type_name({type.dtype, 1}, dialect) + lanes;
  const Speller& spell = speller(dialect);
  if (type.dtype == DType::i8) return lanes.empty() ? std::string(spell.signed_byte_type) : "char" + lanes;
  return lanes.empty() ? std::string(spell.byte_type) : "uchar" + lanes;
}

std::string literal(double value, DType dtype, Dialect dialect) {
  if (dtype == DType::i64) {
    const std::string_view suffix = speller(dialect).long_suffix;
    if (value <= -0x1p63) return fmt::format("(-9223372036854775807{} - 1)", suffix);
    if (value >= 0x1p63) return fmt::format("9223372036854775807{}", suffix);
    return fmt::format("{}{}", static_cast<std::int64_t>(value), suffix);
  }
  if (dtype != DType::f32) {
    // The neutral elements of maximum and minimum are outside of this range.
    const double low = INT32_MIN, high = INT32_MAX;
    if (value <= low) return "(-2147483647 - 1)";
    return fmt::format("{}", static_cast<std::int64_t>(std::min(value, high)));
  }
  CHECK(!std::isnan(value));  // the verifier rejects programs that contain a NaN
  const std::string_view infinity = speller(dialect).infinity;
  const auto nearest = static_cast<float>(value);
  if (std::isinf(nearest)) return fmt::format("{}{}", nearest > 0 ? "" : "-", infinity);
  std::string text = fmt::format("{}", nearest);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string convert(const std::string& value, DType from, Type to, Dialect dialect) {
  if (from == to.dtype) return value;
  const bool truth = from == DType::boolean, vector = to.lanes > 1;
  if (to.dtype == DType::boolean) return value + (from == DType::f32 ? " != 0.0f" : " != 0");
  std::string number = truth && vector ? "-" + value : value;
  if (truth && to.dtype == DType::i32) return number;
  const std::string type = type_name(to, dialect);
  return vector ? fmt::format("convert_{}({})", type, number) : fmt::format("({}){}", type, number);
}

namespace {

struct Spelling {
  Op op;
  std::string_view text;
};

// {0}, {1} and {2} are the arguments. {f} is the suffix of CUDA's float functions; OpenCL overloads one name for floats
// and vectors.
constexpr std::array spellings{
    Spelling{Op::copy, "{0}"},
    Spelling{Op::negative, "-{0}"},
    Spelling{Op::reciprocal, "1.0f / {0}"},
    Spelling{Op::exp, "exp{f}({0})"},
    Spelling{Op::exp2, "exp2({0})"},  // CUDA has no float function of this name; a helper defines it
    Spelling{Op::log, "log{f}({0})"},
    Spelling{Op::sqrt, "sqrt{f}({0})"},
    Spelling{Op::rsqrt, "rsqrt{f}({0})"},
    Spelling{Op::tanh, "tanh{f}({0})"},
    Spelling{Op::sigmoid, "1.0f / (1.0f + exp{f}(-{0}))"},
    Spelling{Op::relu, "max_nan({0}, 0.0f)"},
    Spelling{Op::erf, "erf{f}({0})"},
    Spelling{Op::absolute, "fabs{f}({0})"},
    Spelling{Op::sin, "sin{f}({0})"},
    Spelling{Op::cos, "cos{f}({0})"},
    Spelling{Op::logical_not, "!{0}"},
    Spelling{Op::add, "{0} + {1}"},
    Spelling{Op::subtract, "{0} - {1}"},
    Spelling{Op::multiply, "{0} * {1}"},
    Spelling{Op::divide, "{0} / {1}"},
    Spelling{Op::maximum, "max_nan({0}, {1})"},  // defined by a helper in CUDA, and by simd.h in OpenCL
    Spelling{Op::minimum, "min_nan({0}, {1})"},
    Spelling{Op::power, "pow{f}({0}, {1})"},
    Spelling{Op::logical_and, "{0} && {1}"},
    Spelling{Op::logical_or, "{0} || {1}"},
    Spelling{Op::less, "{0} < {1}"},
    Spelling{Op::less_equal, "{0} <= {1}"},
    Spelling{Op::equal, "{0} == {1}"},
    Spelling{Op::not_equal, "{0} != {1}"},
    Spelling{Op::fma, "fma{f}({0}, {1}, {2})"},
    Spelling{Op::select, "{0} ? {1} : {2}"},
    Spelling{Op::bit_and, "{0} & {1}"},
    Spelling{Op::bit_or, "{0} | {1}"},
    Spelling{Op::bit_xor, "{0} ^ {1}"},
    Spelling{Op::shift_left, "{0} << {1}"},
    Spelling{Op::shift_right, "{0} >> {1}"},
};
// Operations that are spelled differently for integers. The arguments of those that wrap() are unsigned.
constexpr std::array integer_spellings{
    Spelling{Op::relu, "max({0}, 0)"},      Spelling{Op::absolute, "min({0}, -{0})"},
    Spelling{Op::maximum, "max({0}, {1})"}, Spelling{Op::minimum, "min({0}, {1})"},
    Spelling{Op::fma, "{0} * {1} + {2}"},
};
// Operations that are spelled differently for 64-bit integers, because all arguments of a function must have one type.
constexpr std::array long_spellings{Spelling{Op::relu, "max({0}, {0} - {0})"}};
// Operations that are spelled differently for OpenCL vectors of any dtype, and for vectors of truth values, in which
// true is -1.
constexpr std::array vector_spellings{Spelling{Op::select, "select({2}, {1}, {0})"}};
constexpr std::array vector_truth_spellings{
    Spelling{Op::logical_not, "~{0}"}, Spelling{Op::logical_and, "{0} & {1}"}, Spelling{Op::logical_or, "{0} | {1}"},
    Spelling{Op::less, "~{0} & {1}"},  Spelling{Op::less_equal, "~{0} | {1}"},
};

std::string_view find(std::span<const Spelling> table, Op op) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Spelling& s) { return s.op == op; });
  return found == table.end() ? std::string_view() : found->text;
}

std::string_view spelling(Op op, Type type) {
  std::string_view text;
  if (type.lanes > 1 && type.dtype == DType::boolean) text = find(vector_truth_spellings, op);
  if (type.lanes > 1 && text.empty()) text = find(vector_spellings, op);
  if (type.dtype == DType::i64) text = find(long_spellings, op);
  if (type.dtype != DType::f32 && text.empty()) text = find(integer_spellings, op);
  return text.empty() ? find(spellings, op) : text;
}

// Replaces the arguments in the spelling of an operation that is not a lanes_ operation.
std::string spelled(Op op, std::span<const std::string_view> args, Type type, Dialect dialect) {
  const std::string_view text = spelling(op, type);
  CHECK(!text.empty() && args.size() == static_cast<std::size_t>(arity(op)));
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      result += text[i];
      continue;
    }
    const char field = text[i + 1];
    i += 2;
    if (field == 'f') {
      result += speller(dialect).float_function;
      continue;
    }
    const std::string_view arg = args[static_cast<std::size_t>(field - '0')];
    const bool twice = arg.starts_with('-') && result.ends_with('-');  // avoids "--1.0f"
    if (twice) result += '(';
    result += arg;
    if (twice) result += ')';
  }
  return result;
}

std::string fold_lanes(Op op, std::string_view vector, Type type, Dialect dialect) {
  // Combines the two halves as a tree, which has fewer dependent operations than combining lane by lane.
  std::vector<std::string> parts;
  for (int i = 0; i < type.lanes; ++i) parts.push_back(fmt::format(fmt::runtime(speller(dialect).lane), vector, i));
  while (parts.size() > 1) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i < parts.size() / 2; ++i) {
      const std::array<std::string_view, 2> pair = {parts[i], parts[i + parts.size() / 2]};
      next.push_back("(" + spelled(op, pair, {type.dtype, 1}, dialect) + ")");
    }
    parts = std::move(next);
  }
  return parts[0];
}

// Signed overflow is undefined in C, so these operations on integers are computed with unsigned integers.
bool wraps(Op op) {
  constexpr std::array all = {Op::negative, Op::absolute,   Op::add,       Op::subtract,      Op::multiply,
                              Op::fma,      Op::shift_left, Op::lanes_add, Op::lanes_multiply};
  return std::ranges::find(all, op) != all.end();
}

}  // namespace

std::string call(Op op, std::span<const std::string_view> args, Type type, Dialect dialect) {
  const auto text_with = [&](std::span<const std::string_view> texts) {
    for (const Op fold : {Op::add, Op::multiply, Op::maximum, Op::minimum})
      if (op == horizontal(fold)) return fold_lanes(fold, texts[0], type, dialect);
    return spelled(op, texts, type, dialect);
  };
  if (!is_integer(type.dtype) || !wraps(op)) return text_with(args);
  // The argument of a lanes_ operation is a whole vector. In CUDA, its lanes are "(unsigned int)acc0_0" and so on.
  const Speller& spell = speller(dialect);
  std::array<std::string, 3> texts;
  std::array<std::string_view, 3> views;
  for (std::size_t i = 0; i < args.size(); ++i)
    views[i] = texts[i] = fmt::format(fmt::runtime(spell.to_unsigned), type_name(type, dialect), args[i]);
  const Type result = {type.dtype, is_horizontal(op) ? 1 : type.lanes};
  return fmt::format(fmt::runtime(spell.to_signed), type_name(result, dialect),
                     text_with(std::span(views).first(args.size())));
}

}  // namespace deplo::ir
