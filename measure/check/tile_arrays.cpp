#include "measure/check/tile_arrays.h"

#include <cmath>
#include <cstring>

#include "ir/types/float16.h"

namespace deplo::measure {

namespace tiles = ir::tile_program;

ir::DType comparable_dtype(ir::DType element) {
  if (ir::is_kernel_type(element) && !ir::is_narrow_integer(element)) return element;
  return ir::is_integer(element) ? ir::DType::i32 : ir::DType::f32;
}

ir::Numbers numbers_of(const tiles::Array& array, ir::DType dtype) {
  ir::Numbers numbers(dtype, static_cast<std::size_t>(array.elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (array.element == ir::DType::i64) {
      std::int64_t whole = 0;
      std::memcpy(&whole, array.bytes.data() + i * sizeof whole, sizeof whole);
      numbers.set(i, ir::Numbers(std::vector<std::int64_t>{whole}), 0);
    } else {
      const double number = array.number(static_cast<std::int64_t>(i));
      numbers.set(i, array.element == ir::DType::boolean ? std::abs(number) : number);
    }
  }
  return numbers;
}

std::vector<double> rounding_of(const std::vector<double>& reference, const std::vector<double>& exact,
                                ir::DType stored) {
  double squares = 0, count = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!std::isfinite(exact[i] - reference[i])) continue;
    squares += (exact[i] - reference[i]) * (exact[i] - reference[i]);
    ++count;
  }
  // Five standard deviations of the difference between two independent roundings, the program's and the reference's.
  const double deviation = count == 0 ? 0 : 5 * std::sqrt(2 * squares / count);
  std::vector<double> limits;
  for (std::size_t i = 0; i < exact.size(); ++i)
    limits.push_back(std::fmax(deviation, 2 * std::abs(exact[i] - reference[i])) +
                     2 * ir::unit_roundoff(stored) * std::abs(reference[i]));
  return limits;
}

}  // namespace deplo::measure
