// Tensors as PyTorch stores them: a strided view of a run of bytes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/numbers.h"
#include "ir/types/types.h"

namespace deplo::ir::torch::pt2 {

/// PyTorch's scalar types, with their numbers in `.pt2` files (torch/_export/serde/schema.py).
enum class ScalarType : std::uint8_t {
  unknown = 0,
  uint8 = 1,
  int8 = 2,
  int16 = 3,
  int32 = 4,
  int64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  complex32 = 9,
  complex64 = 10,
  complex128 = 11,
  boolean = 12,
  bfloat16 = 13
};
std::string scalar_type_name(ScalarType);  // "float64", "scalar type 29"

/// Returns the type that a graph uses for a scalar type: f32 for float64.
/// Returns nullopt if there is none.
std::optional<DType> dtype(ScalarType);
/// The types that a graph supports, for messages.
inline constexpr std::string_view supported_types = "a type of floats, integers or bool";
constexpr bool is_complex(ScalarType type) { return type == ScalarType::complex64 || type == ScalarType::complex128; }

/// A strided view of a storage. Element (i, j, …) is number offset + i * strides[0] + j * strides[1] + … of the
/// storage.
struct StoredTensor {
  ScalarType type = ScalarType::float32;
  std::string storage;  // name of the archive's entry
  Shape sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  bool operator==(const StoredTensor&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
  auto operator<=>(const StoredTensor&) const = default;
};

/// Returns the values in row-major order. Throws Error `where: expected …, found …` if the view exceeds the storage,
/// the type is not supported, or there are more than `max_count` elements.
Numbers row_major(const StoredTensor&, std::string_view storage, std::int64_t max_count, const std::string& where);

}  // namespace deplo::ir::torch::pt2
