// Types of values: what an operation takes, and what a constant stands for.
#include <fmt/format.h>

#include <cmath>

#include "ir/verify/verifier.h"

namespace deplo::ir {

bool Verifier::lanes(int n) {
  return n == 1 || n == 2 || n == 4 || n == 8 || n == 16 || fail("the number of lanes is 1, 2, 4, 8 or 16");
}

bool Verifier::type(const Type& t) {
  if (t.lanes != 1 && program_.level != Level::kernel) return fail("vector values belong to Kernel IR");
  return lanes(t.lanes);
}

// A constant has the type that is expected of it.
bool Verifier::constant(double value, DType d) {
  if (std::isnan(value)) return fail("a constant is not a number");
  if (d == DType::boolean) return value == 0 || value == 1 || fail(fmt::format("{} is not 0 or 1 (bool)", value));
  if (d != DType::i32) return true;
  return (std::trunc(value) == value && value >= INT32_MIN && value <= INT32_MAX) ||
         fail(fmt::format("{} is not an i32", value));
}

bool Verifier::arg(const Arg& a, const Type& expected, bool horizontal) {
  if (const double* value = std::get_if<double>(&a))
    return horizontal ? fail("expected a vector value") : constant(*value, expected.dtype);
  const std::string& text = *std::get_if<std::string>(&a);
  int number = NameTable::none;
  if (!use(text, number)) return false;
  const Type& t = names_[number].type;
  if (t.dtype != expected.dtype)
    return fail(fmt::format("`{}` is {}, expected {}", text, name(t.dtype), name(expected.dtype)));
  const bool fits = horizontal ? t.lanes > 1 && expected.lanes == 1 : t.lanes == 1 || t.lanes == expected.lanes;
  return fits || fail(fmt::format("`{}` has {} lanes where the result has {}", text, t.lanes, expected.lanes));
}

namespace {

// Of the first value among the arguments; f32 where all are constants.
DType dtype_of(const std::vector<Arg>& args, const NameTable& names) {
  for (const Arg& a : args)
    if (const auto* text = std::get_if<std::string>(&a))
      if (const int number = names.find(*text); number != NameTable::none) return names[number].type.dtype;
  return DType::f32;
}

// Functions of real numbers: their results are seldom whole.
bool is_real(Op op) {
  switch (op) {
    case Op::reciprocal:
    case Op::exp:
    case Op::log:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::tanh:
    case Op::sigmoid:
    case Op::erf:
    case Op::sin:
    case Op::cos:
    case Op::divide:
    case Op::power:
      return true;
    default:
      return false;
  }
}

}  // namespace

// copy converts; comparisons take one type and give bool; logical operations take and give bool; select takes a bool
// and two of the result's type; the others take and give the result's type, no bool, and where real no i32.
bool Verifier::operands(const Assign& a) {
  const DType result = a.type.dtype;
  const bool logical = a.op == Op::logical_not || a.op == Op::logical_and || a.op == Op::logical_or;
  if (gives_truth(a.op) != (result == DType::boolean) && a.op != Op::copy && a.op != Op::select)
    return fail(fmt::format("{} does not give {}", name(a.op), name(result)));
  if (is_real(a.op) && result == DType::i32) return fail(fmt::format("{} does not give i32", name(a.op)));
  const bool constant_copy = a.op == Op::copy && std::get_if<double>(a.args.data()) != nullptr;
  const bool own = (gives_truth(a.op) && !logical) || (a.op == Op::copy && !constant_copy);  // not the result's type
  const Type all = {own ? dtype_of(a.args, names_) : result, a.type.lanes};
  for (std::size_t i = 0; i < a.args.size(); ++i) {
    const bool condition = a.op == Op::select && i == 0;
    if (!arg(a.args[i], condition ? Type{DType::boolean, all.lanes} : all, a.op >= Op::lanes_add)) return false;
  }
  return true;
}

}  // namespace deplo::ir
