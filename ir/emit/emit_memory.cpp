// Loads, writes, atomic additions and prefetches.
#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "ir/emit/float16.h"
#include "ir/emit/simd.h"
#include "ir/emit/statements.h"
#include "ir/simplify/clamped.h"
#include "ir/simplify/repeats.h"
#include "ir/types/float16.h"
#include "ir/walk.h"

namespace deplo::ir::emitter {

namespace {

// CUDA: returns the maximum number of elements in one access of a thread. An access has at most 16 bytes (CUDA C++
// Programming Guide, "Device Memory Accesses"), and at most 4 elements, because CUDA has no longer vectors. The 16-bit
// floats are accessed in pairs, as words.
std::int64_t max_elements(DType stored) {
  return is_float16(stored) ? 8 : std::min<std::int64_t>(4, 16 / bytes(stored));
}

// True if the lanes of a load from a padded tensor are contiguous wherever they do not meet its edge.
bool lie_together(const KernelText& k, const Load& s) {
  const auto on_lane = [](const Expr& e) { return depends_on(e, lane_variable); };
  return k.names.memory.at(s.buffer).strides.back() == 1 && std::none_of(s.index.begin(), s.index.end() - 1, on_lane) &&
         walks_or_stands(s.index.back(), lane_variable);
}

std::string native_load(KernelText& k, const Load& s, bool converts) {
  const Memory& memory = k.names.memory.at(s.buffer);
  const int n = s.type.lanes;
  const std::string at = k.names.offset(s.buffer, s.index);
  if (converts && memory.dtype == DType::f16) k.functions.float16.emplace(memory.dtype, n);
  if (converts) return load_float16(s.buffer, at, memory.dtype, n, memory.space);
  if (n == 1) return fmt::format("{}[{}]", s.buffer, at);
  const std::string value = fmt::format("vload{}(0, &{}[{}])", n, s.buffer, at);
  if (is_narrow_integer(memory.dtype)) return fmt::format("convert_int{}({})", n, value);
  return s.type.dtype == DType::boolean ? fmt::format("-convert_int{}({})", n, value) : value;
}

// Returns how many neighbouring lanes load the same element, or 0 if the load has another pattern.
std::int64_t repeats(const KernelText& k, const Load& s) {
  return k.names.memory.at(s.buffer).strides.back() == 1 ? repeats_of(s.index, lane_variable, s.type.lanes) : 0;
}

// Loads each element once and repeats it in a vector: vload2(0, &q[0]).s0000000011111111
std::string repeated(KernelText& k, const Load& s) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto lanes = static_cast<std::size_t>(s.type.lanes), times = static_cast<std::size_t>(repeats(k, s));
  const bool converts = is_float16(k.names.memory.at(s.buffer).dtype) && !is_float16(s.type.dtype);
  const Load elements = {s.dst, {s.type.dtype, static_cast<int>(lanes / times)}, s.buffer, in_lane(s.index, 0)};
  std::string text = "(" + native_load(k, elements, converts) + ").s";
  for (std::size_t lane = 0; lane < lanes; ++lane) text += digits[lane / times];
  return text;
}

// Loads each lane separately. OpenCL can select every second element of a vector, so lanes with a stride of 2 are
// selected from two vectors. The second vector begins one element early, because memory may end after the last lane.
void load_apart(KernelText& k, const Load& s) {
  if (k.spell.vectors && k.names.memory.at(s.buffer).dtype == DType::f32 &&
      coefficient(flat_offset(s.index, k.names.memory.at(s.buffer).strides), lane_variable) == 2) {
    const int n = s.type.lanes;
    std::vector<Expr> second = in_lane(s.index, n / 2);
    second.back() = simplify(second.back() - 1, k.names.ranges);
    const std::string type = type_name(s.type, k.spell.dialect);
    return k.print("const {0} {1} = ({0})(vload{2}(0, &{3}[{4}]).even, vload{2}(0, &{3}[{5}]).odd);", type, s.dst, n,
                   s.buffer, k.names.offset(s.buffer, in_lane(s.index, 0)), k.names.offset(s.buffer, second));
  }
  if (k.spell.vectors && repeats(k, s) > 0)
    return k.print("const {} {} = {};", type_name(s.type, k.spell.dialect), s.dst, repeated(k, s));
  if (k.spell.vectors) {
    const bool converts = is_float16(k.names.memory.at(s.buffer).dtype) && !is_float16(s.type.dtype);
    const int last = s.type.lanes - 1;
    std::string lanes;
    for (int lane = 0; lane <= last; ++lane)
      lanes += (lane == 0 ? "" : ", ") +
               native_load(k, {s.dst, {s.type.dtype, 1}, s.buffer, in_lane(s.index, lane)}, converts);
    const std::string type = type_name(s.type, k.spell.dialect);
    if (!lie_together(k, s)) return k.print("const {0} {1} = ({0})({2});", type, s.dst, lanes);
    const auto place_of = [&](int lane) {
      return "(" + index_code(in_lane(s.index, lane).back(), k.names.ranges, k.spell) + ")";
    };
    const std::string together = native_load(k, {s.dst, s.type, s.buffer, in_lane(s.index, 0)}, converts);
    return k.print("const {0} {1} = {2} - {3} == {4} ? {5} : ({0})({6});", type, s.dst, place_of(last), place_of(0),
                   last, together, lanes);
  }
  CHECK(k.spell.ptx);
  const std::string type = type_name({s.type.dtype, 1}, k.spell.dialect);
  for (int lane = 0; lane < s.type.lanes; ++lane)
    k.line({"const ", type, " ", lane_name(s.dst, lane), " = ", k.names.place(s.buffer, in_lane(s.index, lane), type),
            ";"});
}

// CUDA: loads `count` lanes, from `first` on, by one access.
void load_lanes(KernelText& k, const Load& s, int first, int count) {
  std::vector<Expr> index = s.index;
  if (first > 0) index.back() = index.back() + first;
  const DType stored = k.names.memory.at(s.buffer).dtype;
  const std::string wide = count == s.type.lanes ? s.dst : fmt::format("{}_from_{}", s.dst, first);
  const std::string type = element_name({stored, count}, k.spell.dialect);
  k.line({"const ", type, " ", wide, " = ", k.names.place(s.buffer, index, type), ";"});
  name_lanes(k, s.dst, s.type, wide, {stored, count}, first);
}

void add(KernelText& k, const Write& s) {
  if (s.mode == WriteMode::add_together) {
    CHECK(k.spell.ptx);
    const std::string wide = element_name({DType::f32, s.lanes}, k.spell.dialect);
    return k.line({"atomicAdd(reinterpret_cast<", wide, "*>(&", k.names.element(s.buffer, s.index), "), make_", wide,
                   "(", k.names.scalars(s.value, {DType::f32, s.lanes}), "));"});
  }
  const DType dtype = k.names.memory.at(s.buffer).dtype;
  const bool emulated = !k.spell.adds_floats && dtype == DType::f32;
  const bool vector = k.spell.vectors && k.names.type_of(s.value, dtype).lanes > 1;
  if (emulated) k.functions.call(Helper::atomic_add_float);
  for (int lane = 0; lane < s.lanes; ++lane) {
    std::vector<Expr> index = s.index;
    if (lane > 0) index.back() = index.back() + lane;
    std::string value = k.names.argument(s.value, dtype, lane);
    if (vector) value = fmt::format(fmt::runtime(k.spell.lane), value, lane);
    k.line({emulated ? "atomic_add_float" : k.spell.integer_add, "(&", k.names.element(s.buffer, index), ", ", value,
            ");"});
  }
}

// CUDA: writes `count` lanes, from `first` on, by one access.
void write_lanes(KernelText& k, const Write& s, int first, int count) {
  const DType stored = k.names.memory.at(s.buffer).dtype;
  const std::string wide = element_name({stored, count}, k.spell.dialect);
  std::vector<Expr> index = s.index;
  if (first > 0) index.back() = index.back() + first;
  std::string value;
  if (!is_float16(stored)) {
    value = "make_" + wide + "(" + k.names.scalars(s.value, {value_type(stored), count}, first) + ")";
  } else if (is_float16(k.names.type_of(s.value, DType::f32).dtype)) {
    CHECK(first == 0 && count == s.lanes);
    value = k.names.argument(s.value, stored, -1);
  } else {
    k.functions.float16.emplace(stored, 1);
    for (int i = first; i < first + count; i += 2)
      value += (i == first ? "" : ", ") + pack_float16(k.names.argument(s.value, DType::f32, i),
                                                       k.names.argument(s.value, DType::f32, i + 1), stored);
    if (count > 2) value = "make_" + wide + "(" + value + ")";
  }
  k.line({"*reinterpret_cast<", wide, "*>(&", k.names.element(s.buffer, index), ") = ", value, ";"});
}

// Writes each lane of a native vector separately.
void write_apart(KernelText& k, const Write& s, bool converts) {
  const Memory& memory = k.names.memory.at(s.buffer);
  const Type type = k.names.type_of(s.value, DType::f32);
  for (int lane = 0; lane < s.lanes; ++lane) {
    const std::string at = k.names.offset(s.buffer, in_lane(s.index, lane));
    std::string value = k.names.argument(s.value, type.dtype, -1);
    if (type.lanes > 1) value = fmt::format(fmt::runtime(k.spell.lane), value, lane);
    if (converts) k.functions.float16.emplace(memory.dtype, 1);
    k.line(converts ? store_float16(s.buffer, at, memory.dtype, 1, memory.space, value)
                    : fmt::format("{}[{}] = {};", s.buffer, at, value));
  }
}

void native_write(KernelText& k, const Write& s, bool converts) {
  if (writes_apart(s)) return write_apart(k, s, converts);
  const Memory& memory = k.names.memory.at(s.buffer);
  const std::string at = k.names.offset(s.buffer, s.index);
  const bool narrow = is_narrow_integer(memory.dtype);
  const Type type = {converts || narrow ? value_type(memory.dtype) : memory.dtype, s.lanes};
  const std::string value = s.lanes == 1 ? k.names.argument(s.value, type.dtype, -1) : k.names.broadcast(s.value, type);
  if (converts) {
    if (memory.dtype == DType::bf16 || s.lanes == 1) k.functions.float16.emplace(memory.dtype, s.lanes);
    return k.line(store_float16(s.buffer, at, memory.dtype, s.lanes, memory.space, value));
  }
  if (s.lanes == 1) return k.line({s.buffer, "[", at, "] = ", value, ";"});
  if (type.dtype == DType::bf16) {  // the value already has the bits of bf16
    k.functions.float16.emplace(type.dtype, s.lanes);
    return k.line(store_bf16(s.buffer, at, s.lanes, memory.space, value));
  }
  if (k.target.cpu && type.dtype == DType::f32) {
    k.functions.simd_stores.insert(s.lanes);
    const std::string place = fmt::format("{}[{}]", s.buffer, at);
    if (s.mode != WriteMode::stream) return k.line(simd_store(place, memory.space, value, s.lanes));
    k.functions.simd_streams.insert(s.lanes);
    return k.line(simd_stream(place, value, s.lanes));
  }
  const std::string element = narrow ? element_name({memory.dtype, s.lanes}, k.spell.dialect) : "";
  k.print("vstore{}({}, 0, &{}[{}]);", s.lanes,
          narrow                         ? fmt::format("convert_{}({})", element, value)
          : type.dtype == DType::boolean ? fmt::format("convert_uchar{}(-{})", s.lanes, value)
                                         : value,
          s.buffer, at);
}

}  // namespace

void name_lanes(KernelText& k, const std::string& value, Type type, const std::string& wide, Type of, int first) {
  constexpr std::string_view members = "xyzw";
  const bool pairs = is_float16(of.dtype);
  if (pairs) k.functions.float16.emplace(of.dtype, 1);
  for (int i = 0; i < of.lanes; ++i) {
    const auto word = static_cast<std::size_t>(pairs ? i / 2 : i);
    const std::string text = pairs && of.lanes == 2 ? wide : wide + "." + members[word];
    k.line({"const ", type_name({type.dtype, 1}, k.spell.dialect), " ", lane_name(value, first + i), " = ",
            pairs ? unpack_float16(text, of.dtype, i) : text, ";"});
  }
}

void emit(KernelText& k, const Load& s) {
  k.names.types[s.dst] = s.type;
  if (reads_apart(s)) return load_apart(k, s);
  const DType stored = k.names.memory.at(s.buffer).dtype;
  const bool converts = is_float16(stored) && !is_float16(s.type.dtype);
  if (k.spell.vectors)
    return k.print("const {} {} = {};", type_name(s.type, k.spell.dialect), s.dst, native_load(k, s, converts));
  const int n = s.type.lanes, access_lanes = static_cast<int>(std::min(std::int64_t{n}, max_elements(stored)));
  if (n > 1 && !is_float16(s.type.dtype)) {
    for (int lane = 0; lane < n; lane += access_lanes) load_lanes(k, s, lane, access_lanes);
    return;
  }
  CHECK(n == access_lanes);
  const std::string type = element_name({stored, n}, k.spell.dialect), value = k.names.place(s.buffer, s.index, type);
  if (!converts)
    return k.line({"const ", n == 1 ? type_name(s.type, k.spell.dialect) : type, " ", s.dst, " = ", value, ";"});
  k.functions.float16.emplace(stored, 1);
  k.line({"const float ", s.dst, " = ", name(stored), "_value(", value, ");"});
}

void emit(KernelText& k, const Write& s) {
  if (adds(s.mode)) return add(k, s);
  const DType stored = k.names.memory.at(s.buffer).dtype;
  const bool converts = is_float16(stored) && !is_float16(k.names.type_of(s.value, DType::f32).dtype);
  if (k.spell.vectors) return native_write(k, s, converts);
  CHECK(!writes_apart(s));  // only CPUs have such writes
  const int n = s.lanes, access_lanes = static_cast<int>(std::min(std::int64_t{n}, max_elements(stored)));
  if (n == 1) {
    std::string value = k.names.argument(s.value, value_type(stored), -1);
    if (converts) k.functions.float16.emplace(stored, 1), value = fmt::format("{}_bits({})", name(stored), value);
    return k.line({k.names.element(s.buffer, s.index), " = ", value, ";"});
  }
  for (int lane = 0; lane < n; lane += access_lanes) write_lanes(k, s, lane, access_lanes);
}

// Uses the builtin of Clang, on which the OpenCL compilers for CPUs are based. OpenCL's own prefetch does nothing in
// PoCL.
void emit(KernelText& k, const Prefetch& s) {
  CHECK(k.target.prefetch);
  k.line({"__builtin_prefetch(&", s.buffer, "[", k.names.offset(s.buffer, s.index), "]",
          s.write    ? ", 1"
          : s.level2 ? ", 0"
                     : "",
          s.level2 ? ", 2);" : ");"});
}

}  // namespace deplo::ir::emitter
