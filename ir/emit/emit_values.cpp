// Values: indices, operations, accumulators.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/emit/float16.h"
#include "ir/walk.h"

namespace deplo::ir {

void Emitter::emit(const Index& s) {
  const bool truth = s.type.dtype == DType::boolean, condition = is_condition(s.value);
  const std::string type = type_name(s.type, dialect());
  types_[s.dst] = s.type;
  if (s.type.lanes > 1 && native_) {
    std::string value = index_vector(s.value, s.type.lanes, ranges_, spell_);
    if (truth != condition) value = truth ? "(" + value + ") != 0" : "-(" + value + ")";
    return print("const {} {} = {};", type, s.dst,
                 convert(s.type.dtype == DType::f32 ? "(" + value + ")" : value, truth ? DType::boolean : DType::i32,
                         s.type, dialect()));
  }
  for (int lane = 0; lane < s.type.lanes; ++lane) {
    const Expr value =
        s.type.lanes == 1 ? s.value : simplify(substitute(s.value, {{lane_variable, Expr(lane)}}), ranges_);
    const std::string name = s.type.lanes == 1 ? s.dst : fmt::format("{}_{}", s.dst, lane);
    print("const {} {} = {};", type, name, truth && !condition ? fmt::format("({}) != 0", code(value)) : code(value));
  }
}

Type Emitter::type_of(const Arg& arg, DType of_constant) const {
  const auto* value = std::get_if<std::string>(&arg);
  return value == nullptr ? Type{of_constant, 1} : types_.at(*value);
}

std::string Emitter::argument(const Arg& arg, DType of_constant, int lane) const {
  if (const auto* constant = std::get_if<double>(&arg)) return literal(*constant, of_constant, dialect());
  const std::string& value = std::get<std::string>(arg);
  return lane >= 0 && !native_ && types_.at(value).lanes > 1 ? lane_name(value, lane) : value;
}

// OpenCL's functions take arguments of one type.
std::string Emitter::broadcast(const Arg& arg, Type type) const {
  std::string text = argument(arg, type.dtype, -1);
  if (type.lanes == 1) return text;
  const Type own = type_of(arg, type.dtype);
  if (own.lanes > 1) return text;
  return "(" + type_name({own.dtype, type.lanes}, dialect()) + (own.dtype == DType::boolean ? ")(-" : ")(") + text +
         ")";
}

// CPUs have functions of their own, and one division serves all lanes that are divided by the same value.
std::string Emitter::operation(Op op, std::span<const std::string_view> texts, const std::vector<Arg>& args,
                               Type type) {
  if (op == Op::round_f16 || op == Op::round_bf16 || op == Op::round_tf32) {
    if (op == Op::round_tf32)
      tf32_.insert(type.lanes);
    else
      float16_.emplace(op == Op::round_f16 ? DType::f16 : DType::bf16, type.lanes);
    return round_float(op, texts[0], type.lanes);
  }
  if (op == Op::exp2 && !spell_.vectors) helpers_.insert(Helper::exp2);
  const bool extremum = is_extremum(op) && type.dtype == DType::f32;
  if (extremum && spell_.keeps_nan)
    helpers_.insert(op == Op::minimum || op == Op::lanes_minimum ? Helper::min_nan : Helper::max_nan);
  if ((target_.cpu || extremum) && !spell_.keeps_nan && type.dtype == DType::f32) {
    if (has_simd(op)) {
      if (const auto function = simd_function(op)) simd_.emplace(*function, type.lanes);
      std::optional<std::size_t> constant;
      for (std::size_t i = 0; i < args.size(); ++i)
        if (std::holds_alternative<double>(args[i])) constant = i;
      return simd_call(op, texts, type.lanes, constant);
    }
    const auto* divisor = op == Op::divide ? std::get_if<std::string>(&args[1]) : nullptr;
    if (type.lanes > 1 && divisor != nullptr && types_.at(*divisor).lanes == 1) {
      simd_.emplace(op, type.lanes);
      return simd_divide(texts[0], *divisor, type.lanes);
    }
  }
  return call(op, texts, type, dialect());
}

// In CUDA a vector operation is one statement a lane.
void Emitter::assign(const std::string& name, Type type, Op op, const std::vector<Arg>& args, bool declare) {
  const std::string prefix = declare ? "const " + type_name(type, dialect()) + " " : "";
  const std::size_t first = op == Op::select ? 1 : 0;  // the arguments of one dtype
  Type from = {gives_truth(op) ? DType::f32 : type.dtype, type.lanes};
  if (op == Op::logical_not || op == Op::logical_and || op == Op::logical_or) from.dtype = DType::boolean;
  for (std::size_t i = args.size(); i-- > first;) from.dtype = type_of(args[i], from.dtype).dtype;
  if (is_horizontal(op)) from.lanes = type_of(args[0], from.dtype).lanes;
  if (declare) types_[name] = type;
  const bool split = type.lanes > 1 && !native_;
  const Type one = split ? Type{type.dtype, 1} : type;
  std::array<std::string, 3> texts;
  for (int lane = 0; lane < (split ? type.lanes : 1); ++lane) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const DType dtype = i < first ? DType::boolean : from.dtype;
      texts[i] = split ? argument(args[i], dtype, lane) : broadcast(args[i], {dtype, type.lanes});
    }
    const std::array<std::string_view, 3> views = {texts[0], texts[1], texts[2]};
    const std::string value =
        op == Op::copy ? convert(texts[0], from.dtype, one, dialect())
                       : operation(op, std::span(views).first(args.size()), args, {from.dtype, split ? 1 : from.lanes});
    line({prefix, split ? lane_name(name, lane) : name, " = ", value, ";"});
  }
}

void Emitter::emit(const Assign& s) { assign(s.dst, s.type, s.op, s.args, true); }

void Emitter::emit(const Accum& s) {
  std::vector<Arg> args = s.args;
  args.insert(s.op == Op::fma ? args.end() : args.begin(), s.dst);  // fma(a, b, acc), op(acc, value)
  assign(s.dst, s.type, s.op, args, false);
}

void Emitter::emit(const Scale& s) { assign(s.acc, s.type, Op::multiply, {s.acc, s.factor}, false); }

void Emitter::emit(const Init& s) {
  const std::string value = literal(*neutral(s.op), s.type.dtype, dialect()), type = type_name(s.type, dialect());
  types_[s.acc] = s.type;
  if (s.type.lanes == 1 || native_) return line({type, " ", s.acc, " = ", value, ";"});
  for (int i = 0; i < s.type.lanes; ++i) line({type, " ", lane_name(s.acc, i), " = ", value, ";"});
}

}  // namespace deplo::ir
