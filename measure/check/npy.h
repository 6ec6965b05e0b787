// Arrays in NumPy's .npy files (numpy.lib.format, versions 1 to 3).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/types/numbers.h"
#include "ir/types/types.h"

namespace deplo::measure {

struct NpyHeader {
  std::string type;  // of the elements, as NumPy writes it: "<f4", "|b1"
  ir::Shape shape;
};
/// Throws Error that names the file, also if its elements are not in C order.
NpyHeader read_npy_header(const std::string& file);
/// The bytes of the elements, exactly as in the file. Throws Error that names the file if there are not `bytes` bytes.
std::vector<std::uint8_t> read_npy_elements(const std::string& file, std::size_t bytes);

/// Reads the values of a tensor of this type, row-major. The file must have the same shape, in C order, and elements of
/// bool, integers of 8 to 64 bits, float16, float32 or float64. A float type accepts every number in its range,
/// infinities and NaN. An integer type or bool accepts only whole numbers that it represents exactly. Throws Error that
/// names the file.
ir::Numbers read_npy(const std::string& file, const ir::TensorType&);

/// The bytes of a .npy file (version 1.0). Its elements have the type itself if it is bool, float64 or an integer of
/// whole bytes, else they are float32.
std::string npy_bytes(const ir::Numbers& values, const ir::TensorType&);

}  // namespace deplo::measure
