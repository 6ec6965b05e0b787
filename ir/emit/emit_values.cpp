// Values: loads, index values, operations, writes.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/walk.h"

namespace deplo::ir {

namespace {

// Of a lane's scalar in CUDA.
std::string lane_name(const std::string& value, int lane) { return value + "_" + std::to_string(lane); }

// As a swizzle does (stage_layout.h).
bool has_flips(const Expr& index) {
  return index.kind() == Expr::Kind::binary &&
         (index.op() == ExprOp::bxor || has_flips(index.lhs()) || has_flips(index.rhs()));
}

}  // namespace

std::string Emitter::offset(const std::string& buffer, const std::vector<Expr>& index) const {
  return offset_code(index, memory_.at(buffer).strides, ranges_, spell_.index_type == "long");
}

// ptxas (13.0) takes the shift by an element's size behind the flips and all additions, and so makes every address of
// its own; in bytes the addresses share what the flips give, and differ by constants of the loads.
std::string Emitter::flipped_place(const std::string& buffer, const std::vector<Expr>& index,
                                   std::string_view type) const {
  const Memory& memory = memory_.at(buffer);
  std::vector<std::int64_t> strides = memory.strides;
  for (std::int64_t& stride : strides) stride *= bytes(memory.dtype);
  return fmt::format("*reinterpret_cast<const {}*>(reinterpret_cast<const char*>({}) + ({}))", type, buffer,
                     offset_code(index, strides, ranges_, spell_.index_type == "long"));
}

void Emitter::emit(const Load& s) {
  const int n = s.type.lanes;
  const std::string at = offset(s.buffer, s.index), type = type_name(s.type, dialect());
  types_[s.dst] = s.type;
  if (cuda() && std::ranges::any_of(s.index, has_flips)) {
    const std::string whole = n == 1 ? type : element_name(s.type, dialect());
    line({"const ", whole, " ", s.dst, " = ", flipped_place(s.buffer, s.index, whole), ";"});
    if (n > 1) name_lanes(s.dst, s.type);
    return;
  }
  if (n == 1) return line({"const ", type, " ", s.dst, " = ", s.buffer, "[", at, "];"});
  const bool truth = s.type.dtype == DType::boolean;
  if (native_) {
    const std::string value = fmt::format("vload{}(0, &{}[{}])", n, s.buffer, at);
    return print("const {} {} = {};", type, s.dst, truth ? fmt::format("-convert_int{}({})", n, value) : value);
  }
  const std::string wide = element_name(s.type, dialect());
  line({"const ", wide, " ", s.dst, " = *reinterpret_cast<const ", wide, "*>(&", s.buffer, "[", at, "]);"});
  name_lanes(s.dst, s.type);
}

// Of a CUDA vector: operations are on its lanes.
void Emitter::name_lanes(const std::string& value, Type type) {
  constexpr std::string_view members = "xyzw";
  for (int i = 0; i < type.lanes; ++i)
    line({"const ", type_name(type, dialect()), " ", lane_name(value, i), " = ", value, ".",
          members.substr(static_cast<std::size_t>(i), 1), ";"});
}

void Emitter::emit(const Index& s) {
  const bool truth = s.type.dtype == DType::boolean, condition = is_condition(s.value),
             wide = spell_.index_type == "long";
  const std::string type = type_name(s.type, dialect());
  types_[s.dst] = s.type;
  if (s.type.lanes > 1 && native_) {
    std::string value = index_vector(s.value, s.type.lanes, ranges_, wide);
    if (truth != condition) value = truth ? "(" + value + ") != 0" : "-(" + value + ")";
    return print(
        "const {} {} = {};", type, s.dst,
        convert(s.type.dtype == DType::f32 ? "(" + value + ")" : value, truth ? DType::boolean : DType::i32, s.type));
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

// On CPUs vectors have functions of their own, and one division serves all lanes that are divided by the same value.
std::string Emitter::operation(Op op, std::span<const std::string_view> texts, const std::vector<Arg>& args,
                               Type type) {
  if (target_.cpu && !cuda() && type.dtype == DType::f32 && type.lanes > 1) {
    if (has_simd(op)) {
      simd_.emplace(op == Op::sigmoid ? Op::exp : op, type.lanes);
      return simd_call(op, texts[0], type.lanes);
    }
    const auto* divisor = op == Op::divide ? std::get_if<std::string>(&args[1]) : nullptr;
    if (divisor != nullptr && types_.at(*divisor).lanes == 1)
      return fmt::format("{} * ({})(1.0f / {})", texts[0], type_name(type, dialect()), *divisor);
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
  if (op >= Op::lanes_add) from.lanes = type_of(args[0], from.dtype).lanes;
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
        op == Op::copy ? convert(texts[0], from.dtype, one)
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

void Emitter::emit(const Init& s) {
  const std::string value = literal(*neutral(s.op), s.type.dtype, dialect()), type = type_name(s.type, dialect());
  types_[s.acc] = s.type;
  if (s.type.lanes == 1 || native_) return line({type, " ", s.acc, " = ", value, ";"});
  for (int i = 0; i < s.type.lanes; ++i) line({type, " ", lane_name(s.acc, i), " = ", value, ";"});
}

void Emitter::add(const Write& s) {
  if (s.mode == WriteMode::add_together) {
    CHECK(cuda());
    const std::string wide = element_name({DType::f32, s.lanes}, dialect());
    return line({"atomicAdd(reinterpret_cast<", wide, "*>(&", element(s.buffer, s.index), "), make_", wide, "(",
                 scalars(s.value, {DType::f32, s.lanes}), "));"});
  }
  const DType dtype = memory_.at(s.buffer).dtype;
  const bool emulated = !cuda() && dtype == DType::f32;
  const bool vector = native_ && type_of(s.value, dtype).lanes > 1;
  if (emulated) helpers_.insert(Helper::atomic_add_float);
  for (int lane = 0; lane < s.lanes; ++lane) {
    std::vector<Expr> index = s.index;
    if (lane > 0) index.back() = index.back() + lane;
    std::string value = argument(s.value, dtype, lane);
    if (vector) value += fmt::format(".s{:x}", lane);
    line({cuda()     ? "atomicAdd"
          : emulated ? "atomic_add_float"
                     : "atomic_add",
          "(&", element(s.buffer, index), ", ", value, ");"});
  }
}

// CUDA's lanes: "acc0_0, acc0_1".
std::string Emitter::scalars(const Arg& value, Type type) const {
  std::string parts;
  for (int i = 0; i < type.lanes; ++i) parts += (i == 0 ? "" : ", ") + argument(value, type.dtype, i);
  return parts;
}

// Clang's, on which the OpenCL compilers for CPUs stand; OpenCL's own prefetch does nothing in PoCL.
void Emitter::emit(const Prefetch& s) {
  CHECK(!cuda() && target_.prefetch);
  line({"__builtin_prefetch(&", s.buffer, "[", offset(s.buffer, s.index), "]", s.write ? ", 1);" : ");"});
}

void Emitter::emit(const Write& s) {
  if (adds(s.mode)) return add(s);
  const std::string at = offset(s.buffer, s.index);
  const Type type = {memory_.at(s.buffer).dtype, s.lanes};
  if (s.lanes == 1) return line({s.buffer, "[", at, "] = ", argument(s.value, type.dtype, -1), ";"});
  if (native_) {
    const std::string value = broadcast(s.value, type);
    const bool truth = type.dtype == DType::boolean;
    return print("vstore{}({}, 0, &{}[{}]);", s.lanes,
                 truth ? fmt::format("convert_uchar{}(-{})", s.lanes, value) : value, s.buffer, at);
  }
  const std::string wide = element_name(type, dialect());
  line({"*reinterpret_cast<", wide, "*>(&", s.buffer, "[", at, "]) = make_", wide, "(", scalars(s.value, type), ");"});
}

}  // namespace deplo::ir
