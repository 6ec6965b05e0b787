// Arrays in NumPy's .npy files (numpy.lib.format, versions 1 to 3).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/numbers.h"
#include "ir/types.h"

namespace deplo::measure {

struct NpyHeader {
  std::string type;  // of the elements, as NumPy writes it: "<f4", "|b1"
  ir::Shape shape;
};
/// Throws Error that names the file; so where its elements do not stand in C order.
NpyHeader read_npy_header(const std::string& file);
/// The elements as they stand in the file, so many bytes. Throws Error that names the file where it has others.
std::vector<std::uint8_t> read_npy_elements(const std::string& file, std::size_t bytes);

/// Values of the file, row-major, as a tensor of that type has them: the same shape, in C order, of bool, int32, int64,
/// float16, float32 or float64. For floats any number, infinity or NaN that the type holds; for integers and bool whole
/// numbers that the type holds, exactly. Throws Error that names the file.
ir::Numbers read_npy(const std::string& file, const ir::TensorType&);

/// The bytes of a file (version 1.0) of bool, int32 or int64 as the type is one, else of float32.
std::string npy_bytes(const ir::Numbers& values, const ir::TensorType&);

}  // namespace deplo::measure
