#include "ir/emit/float16.h"

#include <fmt/format.h>

#include "ir/emit/dialect.h"
#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

std::string count(int lanes) { return lanes == 1 ? "" : std::to_string(lanes); }

constexpr const char* opencl_f16 = R"(float f16_value(const ushort bits) {
  return f16_load((const half*)&bits);
}
ushort f16_bits(const float x) {
  ushort bits;
  f16_store(x, (half*)&bits);
  return bits;
}
float round_f16(const float x) {
  return f16_value(f16_bits(x));
}
)";
// Every OpenCL has these functions without cl_khr_fp16 (OpenCL C 1.2, 6.12.7). {0}: lanes.
constexpr const char* opencl_f16_lanes = R"(float{0} round_f16{0}(const float{0} x) {{
  ushort bits[{0}];
  vstore_half{0}_rte(x, 0, (half*)bits);
  return vload_half{0}(0, (const half*)bits);
}}
)";
// Lanes that may begin at any element. They are copied before the conversion: if vload_half8 reads rows that begin at
// any element, PoCL 3.1 may emit aligned loads, which crash the process.
constexpr const char* opencl_packed_f16 = R"(typedef struct __attribute__((packed)) {{
  ushort{0} bits;
}} f16_lanes{0};
float{0} f16_values{0}(const ushort{0} bits) {{
  return vload_half{0}(0, (const half*)&bits);
}}
)";
// Rounds to nearest even: adds almost half of the last kept unit, plus the lowest kept bit, before cutting off. A NaN
// is replaced, because its kept bits could be those of another value.
constexpr const char* opencl_bf16 = R"(ushort{0} bf16_bits{0}(const float{0} x) {{
  const uint{0} bits = as_uint{0}(x);
  const uint{0} nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return convert_ushort{0}(isnan(x) ? (uint{0})(0x7fc0u) : nearest);
}}
float{0} round_bf16{0}(const float{0} x) {{
  return as_float{0}(convert_uint{0}(bf16_bits{0}(x)) << 16);
}}
)";

// Lanes that may begin at any element. PoCL's vstore writes shorts one by one, which makes silu_mul of bf16 take 1.5
// times as long.
constexpr const char* opencl_bf16_lanes = R"(typedef struct __attribute__((packed)) {{
  ushort{0} bits;
}} bf16_lanes{0};
)";

// See PTX ISA, "cvt": the first operand of a pair becomes the upper half.
constexpr const char* cuda_f16 = R"({0} float f16_value(unsigned short bits) {{
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}}
{0} float f16_low(unsigned pair) {{ return f16_value((unsigned short)pair); }}
{0} float f16_high(unsigned pair) {{ return f16_value((unsigned short)(pair >> 16)); }}
{0} unsigned short f16_bits(float value) {{
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}}
{0} unsigned f16_pair(float low, float high) {{
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}}
{0} float round_f16(float value) {{ return f16_value(f16_bits(value)); }}
)";
constexpr const char* cuda_bf16 =
    R"({0} float bf16_value(unsigned short bits) {{ return __uint_as_float((unsigned)bits << 16); }}
{0} float bf16_low(unsigned pair) {{ return __uint_as_float(pair << 16); }}
{0} float bf16_high(unsigned pair) {{ return __uint_as_float(pair & 0xffff0000u); }}
{0} unsigned short bf16_bits(float value) {{
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}}
{0} unsigned bf16_pair(float low, float high) {{
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}}
{0} float round_bf16(float value) {{ return bf16_value(bf16_bits(value)); }}
)";

// An infinity stays an infinity. A NaN is returned as it is, because its kept bits could be those of another value.
constexpr const char* opencl_tf32 = R"(float{0} round_tf32{0}(const float{0} x) {{
  return isnan(x) ? x : as_float{0}((as_uint{0}(x) + 0x1000u) & 0xffffe000u);
}}
)";
constexpr const char* cuda_tf32 = R"({0} float round_tf32(float value) {{
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
}}
)";
constexpr const char* cuda_function = "static __device__ __forceinline__";

}  // namespace

std::string load_float16(std::string_view buffer, std::string_view at, DType dtype, int lanes, std::string_view space) {
  const std::string n = count(lanes);
  if (dtype == DType::f16)
    return lanes == 1 ? fmt::format("f16_value({}[{}])", buffer, at)
                      : fmt::format("f16_values{0}((({1} f16_lanes{0}*)&{2}[{3}])->bits)", n, space, buffer, at);
  return lanes == 1 ? fmt::format("as_float((uint){}[{}] << 16)", buffer, at)
                    : fmt::format("as_float{0}(convert_uint{0}(vload{0}(0, &{1}[{2}])) << 16)", n, buffer, at);
}

std::string store_float16(std::string_view buffer, std::string_view at, DType dtype, int lanes, std::string_view space,
                          std::string_view value) {
  const std::string n = count(lanes);
  if (dtype == DType::f16)
    return lanes == 1 ? fmt::format("{}[{}] = f16_bits({});", buffer, at, value)
                      : fmt::format("vstore_half{}_rte({}, 0, ({} half*){} + ({}));", n, value, space, buffer, at);
  return lanes == 1 ? fmt::format("{}[{}] = bf16_bits({});", buffer, at, value)
                    : store_bf16(buffer, at, lanes, space, fmt::format("bf16_bits{}({})", n, value));
}

std::string store_bf16(std::string_view buffer, std::string_view at, int lanes, std::string_view space,
                       std::string_view bits) {
  return fmt::format("(({} bf16_lanes{}*)&{}[{}])->bits = {};", space, lanes, buffer, at, bits);
}

std::string unpack_float16(std::string_view word, DType dtype, int lane) {
  return fmt::format("{}_{}({})", name(dtype), lane % 2 == 0 ? "low" : "high", word);
}

std::string pack_float16(std::string_view low, std::string_view high, DType dtype) {
  return fmt::format("{}_pair({}, {})", name(dtype), low, high);
}

std::string round_float(Op op, std::string_view value, int lanes) {
  return fmt::format("{}{}({})", name(op), count(lanes), value);
}

std::string float16_definition(DType dtype, int lanes, Dialect dialect) {
  const bool half = dtype == DType::f16;
  if (!speller(dialect).vectors) return fmt::format(fmt::runtime(half ? cuda_f16 : cuda_bf16), cuda_function);
  if (half && lanes == 1) return std::string(opencl_half_access) + opencl_f16;
  const std::string text = fmt::format(fmt::runtime(half ? opencl_f16_lanes : opencl_bf16), count(lanes));
  return lanes == 1 ? text : text + fmt::format(fmt::runtime(half ? opencl_packed_f16 : opencl_bf16_lanes), lanes);
}

std::string tf32_definition(int lanes, Dialect dialect) {
  return !speller(dialect).vectors ? fmt::format(cuda_tf32, cuda_function) : fmt::format(opencl_tf32, count(lanes));
}

}  // namespace deplo::ir
