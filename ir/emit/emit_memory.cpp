// Memory: loads, writes, additions, prefetches.
#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/emit/float16.h"
#include "ir/simplify/clamped.h"
#include "ir/simplify/repeats.h"
#include "ir/types/float16.h"
#include "ir/walk.h"

namespace deplo::ir {

namespace {

// CUDA: how many elements of `bytes` one access of a thread takes. It has 16 bytes at most (CUDA C++ Programming Guide,
// "Device Memory Accesses"), and of bytes 4, because CUDA has no longer vectors of them.
std::int64_t most_elements(std::int64_t bytes) { return bytes == 1 ? 4 : 16 / bytes; }

// As a swizzle does (stage_layout.h).
bool has_flips(const Expr& index) {
  return index.kind() == Expr::Kind::binary &&
         (index.op() == ExprOp::bxor || has_flips(index.lhs()) || has_flips(index.rhs()));
}

}  // namespace

std::string Emitter::offset(const std::string& buffer, const std::vector<Expr>& index) const {
  const Memory& memory = memory_.at(buffer);
  return offset_code(index, memory.strides, ranges_, spell_, memory.span > INT32_MAX);
}

// CUDA: what is there, as a C type of one or more elements. ptxas (13.0) takes the shift by an element's size behind a
// swizzle's flips and all additions, and so makes every address of its own; in bytes the addresses share what the flips
// give, and differ by constants of the loads.
std::string Emitter::place(const std::string& buffer, const std::vector<Expr>& index, std::string_view type) const {
  const Memory& memory = memory_.at(buffer);
  if (std::ranges::none_of(index, has_flips))
    return type == element_name({memory.dtype, 1}, dialect())
               ? element(buffer, index)
               : fmt::format("*reinterpret_cast<const {}*>(&{})", type, element(buffer, index));
  std::vector<std::int64_t> strides = memory.strides;
  for (std::int64_t& stride : strides) stride *= bytes(memory.dtype);
  return fmt::format("*reinterpret_cast<const {}*>(reinterpret_cast<const char*>({}) + ({}))", type, buffer,
                     offset_code(index, strides, ranges_, spell_, memory.span * bytes(memory.dtype) > INT32_MAX));
}

void Emitter::emit(const Load& s) {
  types_[s.dst] = s.type;
  if (reads_apart(s)) return load_apart(s);
  const DType stored = memory_.at(s.buffer).dtype;
  const bool converts = is_float16(stored) && !is_float16(s.type.dtype);
  if (native_) return print("const {} {} = {};", type_name(s.type, dialect()), s.dst, native_load(s, converts));
  const int n = s.type.lanes, each = static_cast<int>(std::min(std::int64_t{n}, most_elements(bytes(stored))));
  if (n > 1 && !is_float16(s.type.dtype)) {
    for (int lane = 0; lane < n; lane += each) load_lanes(s, lane, each);
    return;
  }
  CHECK(n == each);
  const std::string type = element_name({stored, n}, dialect()), value = place(s.buffer, s.index, type);
  if (!converts) return line({"const ", n == 1 ? type_name(s.type, dialect()) : type, " ", s.dst, " = ", value, ";"});
  float16_.emplace(stored, 1);
  line({"const float ", s.dst, " = ", name(stored), "_value(", value, ");"});
}

// Do the lanes of a padded tensor lie together where they do not meet its edge?
bool Emitter::lie_together(const Load& s) const {
  const auto on_lane = [](const Expr& e) { return depends_on(e, lane_variable); };
  return memory_.at(s.buffer).strides.back() == 1 && std::none_of(s.index.begin(), s.index.end() - 1, on_lane) &&
         walks_or_stands(s.index.back(), lane_variable);
}

// How many neighbouring lanes have the same element; 0: the load is another.
std::int64_t Emitter::repeats(const Load& s) const {
  return memory_.at(s.buffer).strides.back() == 1 ? repeats_of(s.index, lane_variable, s.type.lanes) : 0;
}

// The elements as a vector, each several times: vload2(0, &q[0]).s0000000011111111
std::string Emitter::repeated(const Load& s) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto lanes = static_cast<std::size_t>(s.type.lanes), times = static_cast<std::size_t>(repeats(s));
  const bool converts = is_float16(memory_.at(s.buffer).dtype) && !is_float16(s.type.dtype);
  const Load elements = {s.dst, {s.type.dtype, static_cast<int>(lanes / times)}, s.buffer, in_lane(s.index, 0)};
  std::string text = "(" + native_load(elements, converts) + ").s";
  for (std::size_t lane = 0; lane < lanes; ++lane) text += digits[lane / times];
  return text;
}

// An access for each lane. OpenCL has a word for every second element of a vector, so those of two vectors are the lanes:
// the second one begins an element early, because behind the last lane there may be nothing.
void Emitter::load_apart(const Load& s) {
  if (native_ && memory_.at(s.buffer).dtype == DType::f32 &&
      coefficient(flat_offset(s.index, memory_.at(s.buffer).strides), lane_variable) == 2) {
    const int n = s.type.lanes;
    std::vector<Expr> second = in_lane(s.index, n / 2);
    second.back() = simplify(second.back() - 1, ranges_);
    const std::string type = type_name(s.type, dialect());
    return print("const {0} {1} = ({0})(vload{2}(0, &{3}[{4}]).even, vload{2}(0, &{3}[{5}]).odd);", type, s.dst, n,
                 s.buffer, offset(s.buffer, in_lane(s.index, 0)), offset(s.buffer, second));
  }
  if (native_ && repeats(s) > 0) return print("const {} {} = {};", type_name(s.type, dialect()), s.dst, repeated(s));
  if (native_) {
    const bool converts = is_float16(memory_.at(s.buffer).dtype) && !is_float16(s.type.dtype);
    const int last = s.type.lanes - 1;
    std::string lanes;
    for (int lane = 0; lane <= last; ++lane)
      lanes +=
          (lane == 0 ? "" : ", ") + native_load({s.dst, {s.type.dtype, 1}, s.buffer, in_lane(s.index, lane)}, converts);
    const std::string type = type_name(s.type, dialect());
    if (!lie_together(s)) return print("const {0} {1} = ({0})({2});", type, s.dst, lanes);
    const auto place = [&](int lane) { return "(" + index_code(in_lane(s.index, lane).back(), ranges_, spell_) + ")"; };
    const std::string together = native_load({s.dst, s.type, s.buffer, in_lane(s.index, 0)}, converts);
    return print("const {0} {1} = {2} - {3} == {4} ? {5} : ({0})({6});", type, s.dst, place(last), place(0), last,
                 together, lanes);
  }
  CHECK(spell_.ptx);
  const std::string type = type_name({s.type.dtype, 1}, dialect());
  for (int lane = 0; lane < s.type.lanes; ++lane)
    line({"const ", type, " ", lane_name(s.dst, lane), " = ", place(s.buffer, in_lane(s.index, lane), type), ";"});
}

std::string Emitter::native_load(const Load& s, bool converts) {
  const Memory& memory = memory_.at(s.buffer);
  const int n = s.type.lanes;
  const std::string at = offset(s.buffer, s.index);
  if (converts && memory.dtype == DType::f16 && n > 1) float16_.emplace(memory.dtype, n);
  if (converts) return load_float16(s.buffer, at, memory.dtype, n, memory.space);
  if (n == 1) return fmt::format("{}[{}]", s.buffer, at);
  const std::string value = fmt::format("vload{}(0, &{}[{}])", n, s.buffer, at);
  if (is_integer8(memory.dtype)) return fmt::format("convert_int{}({})", n, value);
  return s.type.dtype == DType::boolean ? fmt::format("-convert_int{}({})", n, value) : value;
}

// CUDA: one access for the lanes from `first` on.
void Emitter::load_lanes(const Load& s, int first, int count) {
  std::vector<Expr> index = s.index;
  if (first > 0) index.back() = index.back() + first;
  const DType stored = memory_.at(s.buffer).dtype;
  const std::string wide = count == s.type.lanes ? s.dst : fmt::format("{}_from_{}", s.dst, first);
  const std::string type = element_name({stored, count}, dialect());
  line({"const ", type, " ", wide, " = ", place(s.buffer, index, type), ";"});
  name_lanes(s.dst, s.type, wide, {stored, count}, first);
}

// CUDA: operations are on lanes. `of` is the type of `wide`: a vector of elements, or of words with two of 16 bits.
void Emitter::name_lanes(const std::string& value, Type type, const std::string& wide, Type of, int first) {
  constexpr std::string_view members = "xyzw";
  const bool pairs = is_float16(of.dtype);
  if (pairs) float16_.emplace(of.dtype, 1);
  for (int i = 0; i < of.lanes; ++i) {
    const auto word = static_cast<std::size_t>(pairs ? i / 2 : i);
    const std::string text = pairs && of.lanes == 2 ? wide : wide + "." + members[word];
    line({"const ", type_name({type.dtype, 1}, dialect()), " ", lane_name(value, first + i), " = ",
          pairs ? unpack_float16(text, of.dtype, i) : text, ";"});
  }
}

void Emitter::add(const Write& s) {
  if (s.mode == WriteMode::add_together) {
    CHECK(spell_.ptx);
    const std::string wide = element_name({DType::f32, s.lanes}, dialect());
    return line({"atomicAdd(reinterpret_cast<", wide, "*>(&", element(s.buffer, s.index), "), make_", wide, "(",
                 scalars(s.value, {DType::f32, s.lanes}), "));"});
  }
  const DType dtype = memory_.at(s.buffer).dtype;
  const bool emulated = !spell_.adds_floats && dtype == DType::f32;
  const bool vector = native_ && type_of(s.value, dtype).lanes > 1;
  if (emulated) helpers_.insert(Helper::atomic_add_float);
  for (int lane = 0; lane < s.lanes; ++lane) {
    std::vector<Expr> index = s.index;
    if (lane > 0) index.back() = index.back() + lane;
    std::string value = argument(s.value, dtype, lane);
    if (vector) value = fmt::format(fmt::runtime(spell_.lane), value, lane);
    line({emulated ? "atomic_add_float" : spell_.integer_add, "(&", element(s.buffer, index), ", ", value, ");"});
  }
}

// CUDA's lanes: "acc0_0, acc0_1".
std::string Emitter::scalars(const Arg& value, Type type, int first) const {
  std::string parts;
  for (int i = first; i < first + type.lanes; ++i) parts += (i == first ? "" : ", ") + argument(value, type.dtype, i);
  return parts;
}

// Clang's, on which the OpenCL compilers for CPUs stand; OpenCL's own prefetch does nothing in PoCL.
void Emitter::emit(const Prefetch& s) {
  CHECK(target_.prefetch);
  line({"__builtin_prefetch(&", s.buffer, "[", offset(s.buffer, s.index), "]", s.write ? ", 1);" : ");"});
}

void Emitter::emit(const Write& s) {
  if (adds(s.mode)) return add(s);
  const DType stored = memory_.at(s.buffer).dtype;
  const bool converts = is_float16(stored) && !is_float16(type_of(s.value, DType::f32).dtype);
  if (native_) return native_write(s, converts);
  CHECK(!writes_apart(s));  // of CPUs only
  const int n = s.lanes, each = static_cast<int>(std::min(std::int64_t{n}, most_elements(bytes(stored))));
  if (n == 1) {
    std::string value = argument(s.value, value_type(stored), -1);
    if (converts) float16_.emplace(stored, 1), value = fmt::format("{}_bits({})", name(stored), value);
    return line({element(s.buffer, s.index), " = ", value, ";"});
  }
  for (int lane = 0; lane < n; lane += each) write_lanes(s, lane, each);
}

// A scalar write for each lane of a native vector.
void Emitter::write_apart(const Write& s, bool converts) {
  const Memory& memory = memory_.at(s.buffer);
  const Type type = type_of(s.value, DType::f32);
  for (int lane = 0; lane < s.lanes; ++lane) {
    const std::string at = offset(s.buffer, in_lane(s.index, lane));
    std::string value = argument(s.value, type.dtype, -1);
    if (type.lanes > 1) value = fmt::format(fmt::runtime(spell_.lane), value, lane);
    if (converts && memory.dtype == DType::bf16) float16_.emplace(memory.dtype, 1);
    line(converts ? store_float16(s.buffer, at, memory.dtype, 1, memory.space, value)
                  : fmt::format("{}[{}] = {};", s.buffer, at, value));
  }
}

void Emitter::native_write(const Write& s, bool converts) {
  if (writes_apart(s)) return write_apart(s, converts);
  const Memory& memory = memory_.at(s.buffer);
  const std::string at = offset(s.buffer, s.index);
  const Type type = {converts ? DType::f32 : memory.dtype, s.lanes};
  const std::string value = s.lanes == 1 ? argument(s.value, type.dtype, -1) : broadcast(s.value, type);
  if (converts) {
    if (memory.dtype == DType::bf16) float16_.emplace(memory.dtype, s.lanes);
    return line(store_float16(s.buffer, at, memory.dtype, s.lanes, memory.space, value));
  }
  if (s.lanes == 1) return line({s.buffer, "[", at, "] = ", value, ";"});
  if (type.dtype == DType::bf16) {  // bits as they are
    float16_.emplace(type.dtype, s.lanes);
    return line(store_bf16(s.buffer, at, s.lanes, memory.space, value));
  }
  if (target_.cpu && type.dtype == DType::f32) {
    simd_lanes_.insert(s.lanes);
    const std::string place = fmt::format("{}[{}]", s.buffer, at);
    if (s.mode != WriteMode::stream) return line(simd_store(place, memory.space, value, s.lanes));
    simd_streams_.insert(s.lanes);
    return line(simd_stream(place, value, s.lanes));
  }
  print("vstore{}({}, 0, &{}[{}]);", s.lanes,
        type.dtype == DType::boolean ? fmt::format("convert_uchar{}(-{})", s.lanes, value) : value, s.buffer, at);
}

// CUDA: one access for the lanes from `first` on.
void Emitter::write_lanes(const Write& s, int first, int count) {
  const DType stored = memory_.at(s.buffer).dtype;
  const std::string wide = element_name({stored, count}, dialect());
  std::vector<Expr> index = s.index;
  if (first > 0) index.back() = index.back() + first;
  std::string value;
  if (!is_float16(stored)) {
    value = "make_" + wide + "(" + scalars(s.value, {stored, count}, first) + ")";
  } else if (is_float16(type_of(s.value, DType::f32).dtype)) {
    CHECK(first == 0 && count == s.lanes);
    value = argument(s.value, stored, -1);
  } else {
    float16_.emplace(stored, 1);
    for (int i = first; i < first + count; i += 2)
      value += (i == first ? "" : ", ") +
               pack_float16(argument(s.value, DType::f32, i), argument(s.value, DType::f32, i + 1), stored);
    if (count > 2) value = "make_" + wide + "(" + value + ")";
  }
  line({"*reinterpret_cast<", wide, "*>(&", element(s.buffer, index), ") = ", value, ";"});
}

}  // namespace deplo::ir
