#include "ir/verify/operands.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/types/float16.h"
#include "ir/verify/violation.h"

namespace deplo::ir::verifier {
namespace {

// Checks a constant. It takes the type that is expected of it.
void check_constant(double value, DType d) {
  if (std::isnan(value)) fail("a constant is not a number");
  if (d == DType::boolean && value != 0 && value != 1) fail("{} is not 0 or 1 (bool)", value);
  const double end = d == DType::i64 ? 0x1p63 : 0x1p31;
  const bool whole = std::trunc(value) == value && value >= -end && value < end;
  if (is_integer(d) && !whole) fail("{} is not an {}", value, name(d));
}

// The type of the first argument that is a value; f32 if all arguments are constants.
DType dtype_of(const std::vector<Arg>& args, const Names& names) {
  for (const Arg& a : args)
    if (const auto* text = std::get_if<std::string>(&a))
      if (const Name* value = names.find(*text); value != nullptr) return value->type.dtype;
  return DType::f32;
}

// Functions of real numbers. Their results are seldom integers.
bool is_real(Op op) {
  constexpr std::array real = {Op::reciprocal, Op::exp,       Op::exp2,       Op::log,       Op::sqrt, Op::rsqrt,
                               Op::tanh,       Op::sigmoid,   Op::erf,        Op::sin,       Op::cos,  Op::divide,
                               Op::power,      Op::round_f16, Op::round_bf16, Op::round_tf32};
  return std::ranges::count(real, op) > 0;
}

// Operations on bits, which exist only for integers.
bool is_integral(Op op) { return is_bitwise(op) || op == Op::shift_left || op == Op::shift_right; }

}  // namespace

void check_lanes(int n) {
  if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) fail("the number of lanes is 1, 2, 4, 8 or 16");
}

void check_type(const Type& t, Level level) {
  if (value_type(t.dtype) != t.dtype)
    fail("{} is a type of memory: its values are {}", name(t.dtype), name(value_type(t.dtype)));
  if (t.lanes != 1 && level != Level::kernel) fail("vector values belong to Kernel IR");
  if (t.lanes != 1 && t.dtype == DType::i64) fail("an i64 has one lane");
  check_lanes(t.lanes);
}

void check_arg(Names& names, const Arg& arg, const Type& expected, bool horizontal) {
  const auto* text = std::get_if<std::string>(&arg);
  if (text == nullptr) {
    if (horizontal) fail("expected a vector value");
    return check_constant(*std::get_if<double>(&arg), expected.dtype);
  }
  const Type& t = names.use(*text).type;
  if (t.dtype != expected.dtype) fail("`{}` is {}, expected {}", *text, name(t.dtype), name(expected.dtype));
  const bool fits = horizontal ? t.lanes > 1 && expected.lanes == 1 : t.lanes == 1 || t.lanes == expected.lanes;
  if (!fits) fail("`{}` has {} lanes, but the result has {}", *text, t.lanes, expected.lanes);
}

// copy converts. Comparisons take one type and return bool. Logical operations take and return bool. select takes a
// bool and two arguments of the result's type. All others take and return the result's type, which is not bool and, for
// functions of real numbers, not an integer.
void check_operands(Names& names, const Assign& a) {
  const DType result = a.type.dtype;
  const bool logical = a.op == Op::logical_not || a.op == Op::logical_and || a.op == Op::logical_or;
  if (gives_truth(a.op) != (result == DType::boolean) && a.op != Op::copy && a.op != Op::select)
    fail("{} does not give {}", name(a.op), name(result));
  if (is_real(a.op) && is_integer(result)) fail("{} does not give {}", name(a.op), name(result));
  if (is_integral(a.op) && !is_integer(result)) fail("{} does not give {}", name(a.op), name(result));
  const bool constant_copy = a.op == Op::copy && std::get_if<double>(a.args.data()) != nullptr;
  // True if the arguments have a type of their own, which may differ from the result's.
  const bool own = (gives_truth(a.op) && !logical) || (a.op == Op::copy && !constant_copy);
  const Type all = {own ? dtype_of(a.args, names) : result, a.type.lanes};
  for (std::size_t i = 0; i < a.args.size(); ++i) {
    const bool condition = a.op == Op::select && i == 0;
    check_arg(names, a.args[i], condition ? Type{DType::boolean, all.lanes} : all, is_horizontal(a.op));
  }
}

}  // namespace deplo::ir::verifier
