// Indices, operations and accumulators.
#include <array>

#include "core/error.h"
#include "ir/emit/float16.h"
#include "ir/emit/simd.h"
#include "ir/emit/statements.h"
#include "ir/walk.h"

namespace deplo::ir::emitter {

void emit(KernelText& k, const Index& s) {
  const bool truth = s.type.dtype == DType::boolean, condition = is_condition(s.value);
  const std::string type = type_name(s.type, k.spell.dialect);
  k.names.types[s.dst] = s.type;
  if (s.type.lanes > 1 && k.spell.vectors) {
    std::string value = index_vector(s.value, s.type.lanes, k.names.ranges, k.spell);
    if (truth != condition) value = truth ? "(" + value + ") != 0" : "-(" + value + ")";
    return k.print("const {} {} = {};", type, s.dst,
                   convert(s.type.dtype == DType::f32 ? "(" + value + ")" : value, truth ? DType::boolean : DType::i32,
                           s.type, k.spell.dialect));
  }
  for (int lane = 0; lane < s.type.lanes; ++lane) {
    const Expr value =
        s.type.lanes == 1 ? s.value : simplify(substitute(s.value, {{lane_variable, Expr(lane)}}), k.names.ranges);
    const std::string name = s.type.lanes == 1 ? s.dst : fmt::format("{}_{}", s.dst, lane);
    k.print("const {} {} = {};", type, name,
            truth && !condition ? fmt::format("({}) != 0", k.names.code(value)) : k.names.code(value));
  }
}

// Returns the operation as an expression. CPUs use their own functions (simd.h), and compute one division for all lanes
// that are divided by the same value.
std::string operation(KernelText& k, Op op, std::span<const std::string_view> texts, const std::vector<Arg>& args,
                      Type type) {
  if (op == Op::round_f16 || op == Op::round_bf16 || op == Op::round_tf32) {
    if (op == Op::round_tf32)
      k.functions.tf32.insert(type.lanes);
    else
      k.functions.float16.emplace(op == Op::round_f16 ? DType::f16 : DType::bf16, type.lanes);
    return round_float(op, texts[0], type.lanes);
  }
  if (op == Op::exp2 && !k.spell.vectors) k.functions.call(Helper::exp2);
  const bool extremum = is_extremum(op) && type.dtype == DType::f32;
  if (extremum && k.spell.keeps_nan)
    k.functions.call(op == Op::minimum || op == Op::lanes_minimum ? Helper::min_nan : Helper::max_nan);
  if ((k.target.cpu || extremum) && !k.spell.keeps_nan && type.dtype == DType::f32) {
    if (has_simd(op)) {
      if (const auto function = simd_function(op)) k.functions.simd.emplace(*function, type.lanes);
      std::optional<std::size_t> constant;
      for (std::size_t i = 0; i < args.size(); ++i)
        if (std::holds_alternative<double>(args[i])) constant = i;
      return simd_call(op, texts, type.lanes, constant);
    }
    const auto* divisor = op == Op::divide ? std::get_if<std::string>(&args[1]) : nullptr;
    if (type.lanes > 1 && divisor != nullptr && k.names.types.at(*divisor).lanes == 1) {
      k.functions.simd.emplace(op, type.lanes);
      return simd_divide(texts[0], *divisor, type.lanes);
    }
  }
  return call(op, texts, type, k.spell.dialect);
}

namespace {

// Emits the operation as an assignment. CUDA has one statement for each lane.
void assign(KernelText& k, const std::string& name, Type type, Op op, const std::vector<Arg>& args, bool declare) {
  const std::string prefix = declare ? "const " + type_name(type, k.spell.dialect) + " " : "";
  const std::size_t first = op == Op::select ? 1 : 0;  // the arguments from here on have one dtype
  Type from = {gives_truth(op) ? DType::f32 : type.dtype, type.lanes};
  if (op == Op::logical_not || op == Op::logical_and || op == Op::logical_or) from.dtype = DType::boolean;
  for (std::size_t i = args.size(); i-- > first;) from.dtype = k.names.type_of(args[i], from.dtype).dtype;
  if (is_horizontal(op)) from.lanes = k.names.type_of(args[0], from.dtype).lanes;
  if (declare) k.names.types[name] = type;
  const bool split = type.lanes > 1 && !k.spell.vectors;
  const Type one = split ? Type{type.dtype, 1} : type;
  std::array<std::string, 3> texts;
  for (int lane = 0; lane < (split ? type.lanes : 1); ++lane) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const DType dtype = i < first ? DType::boolean : from.dtype;
      texts[i] = split ? k.names.argument(args[i], dtype, lane) : k.names.broadcast(args[i], {dtype, type.lanes});
    }
    const std::array<std::string_view, 3> views = {texts[0], texts[1], texts[2]};
    const std::string value = op == Op::copy ? convert(texts[0], from.dtype, one, k.spell.dialect)
                                             : operation(k, op, std::span(views).first(args.size()), args,
                                                         {from.dtype, split ? 1 : from.lanes});
    k.line({prefix, split ? lane_name(name, lane) : name, " = ", value, ";"});
  }
}

}  // namespace

void emit(KernelText& k, const Assign& s) { assign(k, s.dst, s.type, s.op, s.args, true); }

void emit(KernelText& k, const Accum& s) {
  std::vector<Arg> args = s.args;
  args.insert(s.op == Op::fma ? args.end() : args.begin(), s.dst);  // fma(a, b, acc), op(acc, value)
  assign(k, s.dst, s.type, s.op, args, false);
}

void emit(KernelText& k, const Scale& s) { assign(k, s.acc, s.type, Op::multiply, {s.acc, s.factor}, false); }

void emit(KernelText& k, const Init& s) {
  const std::string value = literal(*neutral(s.op), s.type.dtype, k.spell.dialect),
                    type = type_name(s.type, k.spell.dialect);
  k.names.types[s.acc] = s.type;
  if (s.type.lanes == 1 || k.spell.vectors) return k.line({type, " ", s.acc, " = ", value, ";"});
  for (int i = 0; i < s.type.lanes; ++i) k.line({type, " ", lane_name(s.acc, i), " = ", value, ";"});
}

}  // namespace deplo::ir::emitter
