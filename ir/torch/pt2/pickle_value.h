// Private to pickle.cpp: the values of the pickle machine, and the names it knows.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "ir/torch/pt2/tensor.h"

namespace deplo::ir::torch::pt2::pickle {

// clang-format off
enum class Kind : std::uint8_t {
  none, boolean, integer, text, list, dictionary, storage_class, storage, tensor,  // values
  make_tensor, make_parameter, make_dictionary                                     // what REDUCE may call
};
// clang-format on
// Composite values are indices into the machine's pools: a pickle may make cycles, and nest as deep as it likes.
struct Value {
  Kind kind = Kind::none;
  std::int64_t number = 0;  // boolean, integer; storage_class: the ScalarType; else the index
};

struct Global {
  std::string_view name;
  Kind kind;
  ScalarType type = ScalarType::unknown;
};
inline constexpr std::array<Global, 14> globals = {{
    {"torch._utils _rebuild_tensor_v2", Kind::make_tensor},
    {"torch._utils _rebuild_parameter", Kind::make_parameter},
    {"torch._utils _rebuild_parameter_with_state", Kind::make_parameter},
    {"collections OrderedDict", Kind::make_dictionary},
    {"torch FloatStorage", Kind::storage_class, ScalarType::float32},
    {"torch HalfStorage", Kind::storage_class, ScalarType::float16},
    {"torch BFloat16Storage", Kind::storage_class, ScalarType::bfloat16},
    {"torch DoubleStorage", Kind::storage_class, ScalarType::float64},
    {"torch LongStorage", Kind::storage_class, ScalarType::int64},
    {"torch IntStorage", Kind::storage_class, ScalarType::int32},
    {"torch ShortStorage", Kind::storage_class, ScalarType::int16},
    {"torch CharStorage", Kind::storage_class, ScalarType::int8},
    {"torch ByteStorage", Kind::storage_class, ScalarType::uint8},
    {"torch BoolStorage", Kind::storage_class, ScalarType::boolean},
}};

}  // namespace deplo::ir::torch::pt2::pickle
