#include "ir/torch/pt2/program/tensor.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/error.h"
#include "ir/torch/graph.h"
#include "ir/types/float16.h"

namespace deplo::ir::torch::pt2 {
namespace {

constexpr std::array<std::string_view, 14> names = {"unknown",   "uint8",      "int8",    "int16",   "int32",
                                                    "int64",     "float16",    "float32", "float64", "complex32",
                                                    "complex64", "complex128", "bool",    "bfloat16"};

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::size_t width(ScalarType type) {
  switch (type) {
    case ScalarType::float32:
    case ScalarType::int32:
      return 4;
    case ScalarType::int64:
    case ScalarType::float64:
      return 8;
    case ScalarType::boolean:
    case ScalarType::uint8:
    case ScalarType::int8:
      return 1;
    default:
      return 2;
  }
}

float element(ScalarType type, const char* bytes) {
  switch (type) {
    case ScalarType::float32:
      return load<float>(bytes);
    case ScalarType::float64:
      return static_cast<float>(load<double>(bytes));
    case ScalarType::boolean:
      return *bytes ? 1.0F : 0.0F;
    case ScalarType::float16:
      return float16_value(load<std::uint16_t>(bytes), DType::f16);
    default:
      return float16_value(load<std::uint16_t>(bytes), DType::bf16);
  }
}

// Returns the number of elements. Throws Error unless all elements are inside a storage of `stored` elements.
std::int64_t count(const StoredTensor& t, std::int64_t stored, std::int64_t max_count, const std::string& where) {
  if (t.sizes.size() != t.strides.size() || t.sizes.size() > max_dimensions)
    throw Error(fmt::format("{}: expected at most {} dimensions, each with a stride, found sizes {} and strides {}",
                            where, max_dimensions, print(t.sizes), print(t.strides)));
  std::int64_t n = 1, last = t.offset;
  bool inside = t.offset >= 0;
  for (std::size_t d = 0; inside && d < t.sizes.size(); ++d) {
    std::int64_t step = 0;
    inside = t.sizes[d] >= 0 && t.strides[d] >= 0 && !__builtin_mul_overflow(n, t.sizes[d], &n) && n <= max_count;
    if (inside && t.sizes[d] > 0)
      inside =
          !__builtin_mul_overflow(t.sizes[d] - 1, t.strides[d], &step) && !__builtin_add_overflow(last, step, &last);
  }
  if (!inside || (n > 0 && last >= stored))
    throw Error(
        fmt::format("{}: expected a tensor inside a storage of {} elements, found sizes {}, strides {}, offset {}",
                    where, stored, print(t.sizes), print(t.strides), t.offset));
  return n;
}

}  // namespace

std::string scalar_type_name(ScalarType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < names.size() ? std::string(names[i]) : fmt::format("scalar type {}", i);
}

std::optional<DType> dtype(ScalarType type) {
  return type == ScalarType::float64 ? DType::f32 : parse_dtype(scalar_type_name(type));
}

namespace {

/// Calls make(bytes) for each element in row-major order, and returns the results.
template <class Make>
auto read_all(const StoredTensor& t, std::int64_t n, const char* storage, std::size_t bytes, const Make& make) {
  std::vector<decltype(make(storage))> values;
  values.reserve(static_cast<std::size_t>(n));
  std::vector<std::int64_t> at(t.sizes.size(), 0), strides = t.strides;
  for (std::size_t d = 0; d < at.size(); ++d)
    if (t.sizes[d] == 1) strides[d] = 0;  // the file's stride may be any number
  std::int64_t position = t.offset;
  while (static_cast<std::int64_t>(values.size()) < n) {
    values.push_back(make(storage + static_cast<std::size_t>(position) * bytes));
    for (std::size_t d = at.size(); d-- > 0;) {  // the next element in row-major order
      position += strides[d];
      if (++at[d] < t.sizes[d]) break;
      position -= strides[d] * t.sizes[d];
      at[d] = 0;
    }
  }
  return values;
}

}  // namespace

Numbers row_major(const StoredTensor& t, std::string_view storage, std::int64_t max_count, const std::string& where) {
  if (!dtype(t.type))
    throw Error(fmt::format("{}: expected {}, found {}", where, supported_types, scalar_type_name(t.type)));
  const std::size_t bytes = width(t.type);
  const std::int64_t n = count(t, static_cast<std::int64_t>(storage.size() / bytes), max_count, where);
  if (t.type == ScalarType::int64) return read_all(t, n, storage.data(), bytes, load<std::int64_t>);
  const auto integers = [&]<class T>(T (*one)(const char*)) {
    return read_all(t, n, storage.data(), bytes, [one](const char* from) { return std::int32_t{one(from)}; });
  };
  if (t.type == ScalarType::uint8) return integers(load<std::uint8_t>);
  if (t.type == ScalarType::int8) return integers(load<std::int8_t>);
  if (t.type == ScalarType::int16) return integers(load<std::int16_t>);
  if (t.type == ScalarType::int32) return read_all(t, n, storage.data(), bytes, load<std::int32_t>);
  return read_all(t, n, storage.data(), bytes, [&](const char* from) { return element(t.type, from); });
}

}  // namespace deplo::ir::torch::pt2
