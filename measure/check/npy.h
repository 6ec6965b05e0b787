// Reads and writes arrays in NumPy's .npy files (numpy.lib.format, versions 1 to 3).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/types/numbers.h"
#include "ir/types/types.h"

namespace deplo::measure {

struct NpyHeader {
  std::string type;  // type of the elements in NumPy's notation: "<f4", "|b1"
  ir::Shape shape;
};
/// Reads the header. Throws Error that names the file, also if its elements are not in C order.
NpyHeader read_npy_header(const std::string& file);
/// Returns the bytes of the elements, exactly as in the file. Throws Error that names the file if there are not `bytes`
/// bytes.
std::vector<std::uint8_t> read_npy_elements(const std::string& file, std::size_t bytes);

/// Reads the values of a tensor of this type, in row-major order. The file must have the same shape, in C order, and
/// elements of bool, integers of 8 to 64 bits, float16, float32 or float64. Elements of complex64 and complex128 are
/// read as their parts, which are a last dimension of the shape. A float type accepts every number in its range,
/// infinities and NaN. An integer type or bool accepts only whole numbers that it represents exactly. Throws Error that
/// names the file.
ir::Numbers read_npy(const std::string& file, const ir::TensorType&);

/// Returns the beginning of a .npy file (version 1.0), up to its elements.
std::string npy_start(const NpyHeader&);
/// Returns the bytes of a .npy file. Its elements have the tensor's type if that is bool, float64 or an
/// integer of whole bytes; otherwise they are float32.
std::string npy_bytes(const ir::Numbers& values, const ir::TensorType&);

}  // namespace deplo::measure
