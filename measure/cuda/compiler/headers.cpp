#include "measure/cuda/compiler/headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "measure/cuda/library.h"

namespace deplo::measure::cuda {
namespace {

namespace fs = std::filesystem;

// NVRTC itself declares printf, assert, malloc, memcpy, size_t and the functions of math.h.
constexpr const char* nothing = "";

// The types are the same as in CUDA's <cuda/std/cstdint>, which a source may include as well.
constexpr const char* stdint_h = R"(#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;
typedef int64_t intptr_t; typedef uint64_t uintptr_t;
typedef int64_t intmax_t; typedef uint64_t uintmax_t;
#ifndef INT32_MAX
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
#define SIZE_MAX UINT64_MAX
#endif
)";

constexpr const char* limits_h = R"(#pragma once
#ifndef INT_MAX
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
#endif
)";

constexpr const char* float_h = R"(#pragma once
#ifndef FLT_MAX
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.1920928955078125e-7f
#define FLT_MIN 1.17549435082228751e-38f
#define FLT_MAX 3.40282346638528860e+38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#endif
)";

constexpr const char* math_h = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#endif
#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
)";

constexpr const char* cmath = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::hypot; using ::pow; using ::exp; using ::exp2;
using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p; using ::sin; using ::cos; using ::tan;
using ::asin; using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::erf;
using ::erfc; using ::floor; using ::ceil; using ::round; using ::trunc; using ::fmod; using ::fmin; using ::fmax;
using ::fma; using ::isnan; using ::isinf;
}
)";

constexpr const char* cstdint = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;
using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;
}
)";

constexpr const char* cstddef = R"(#pragma once
namespace std {
using ::size_t; using ::ptrdiff_t;
}
)";

// glibc's <stdlib.h> has these types through <sys/types.h>, and with nvcc CUDA C++ has them, too.
constexpr const char* stdlib_h = R"(#pragma once
typedef unsigned int uint; typedef unsigned short ushort; typedef unsigned long ulong;
)";

// CUB's own <cub/cub.cuh> also includes host functions, which NVRTC refuses. This version includes only the parts for
// device code.
constexpr const char* cub_cuh = R"(#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
)";

constexpr Header replaced_headers[] = {
    {"assert.h", nothing},     {"cassert", nothing}, {"cfloat", float_h},      {"climits", limits_h},
    {"cmath", cmath},          {"cstddef", cstddef}, {"cstdint", cstdint},     {"cstdio", nothing},
    {"cstdlib", stdlib_h},     {"cstring", nothing}, {"float.h", float_h},     {"iostream", nothing},
    {"limits.h", limits_h},    {"math.h", math_h},   {"stdbool.h", nothing},   {"stddef.h", nothing},
    {"stdint.h", stdint_h},    {"stdio.h", nothing}, {"stdlib.h", stdlib_h},   {"string.h", nothing},
    {"sys/types.h", stdlib_h}, {"time.h", nothing},  {"cub/cub.cuh", cub_cuh},
};

// nvcc includes the first three headers automatically, and NVRTC has built in what device code needs from them. cuda.h
// is the driver's interface for the host.
constexpr const char* built_in_headers[] = {"cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h",
                                            "vector_types.h", "vector_functions.h", "cuda.h"};

/// Returns what follows the word of each #include line, as far as the end of the source.
std::vector<std::string_view> includes_of(std::string_view source) {
  constexpr std::string_view word = "include";
  std::vector<std::string_view> includes;
  for (std::size_t at = source.find('#'); at != std::string_view::npos; at = source.find('#', at + 1)) {
    const std::size_t directive = source.find_first_not_of(" \t", at + 1);
    if (directive == std::string_view::npos || !source.substr(directive).starts_with(word)) continue;
    const std::string_view rest = source.substr(directive + word.size());
    includes.push_back(rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size())));
  }
  return includes;
}

}  // namespace

std::string Headers::text() const {
  std::string all;
  for (const Header& header : texts) all += fmt::format("{}\n{}", header.name, header.text);
  for (const std::string& option : options) all += option + "\n";
  return all;
}

Headers headers_of(std::string_view source) {
  Headers headers;
  if (includes_of(source).empty()) return headers;
  headers.texts.assign(std::begin(replaced_headers), std::end(replaced_headers));
  const std::vector<fs::path> folders = header_folders();
  for (const fs::path& folder : folders) headers.options.push_back("--include-path=" + folder.string());
  for (const char* const name : built_in_headers) {
    const auto has = [&](const fs::path& folder) { return fs::exists(folder / name); };
    if (std::ranges::none_of(folders, has)) headers.texts.push_back({name, nothing});
  }
  return headers;
}

bool may_include_own(std::string_view source, std::string_view options) {
  // -I, -include, --include-path, --pre-include
  for (const std::string_view option : {"-I", "-include"})
    if (options.find(option) != std::string_view::npos) return true;
  return std::ranges::any_of(includes_of(source), [](std::string_view name) { return !name.starts_with('<'); });
}

std::optional<std::string> advice_on_header(std::string_view log) {
  constexpr std::string_view said = "open source file \"";
  const std::size_t at = log.find(said);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = log.substr(at + said.size());
  const std::string_view name = rest.substr(0, rest.find('"'));
  constexpr std::array of_cuda{"cuda", "cooperative_groups", "mma.h", "crt/", "cub/", "thrust/", "nv/", "curand"};
  if (std::ranges::any_of(of_cuda, [&](const char* start) { return name.starts_with(start); }))
    return "CUDA's headers come with the CUDA toolkit, or by `pip install nvidia-cuda-runtime nvidia-cuda-crt "
           "nvidia-cuda-cccl`";
  return "-I FOLDER adds a folder of headers; the headers of the host's C++ library do not work in device code";
}

}  // namespace deplo::measure::cuda
