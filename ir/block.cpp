#include "ir/block.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::ir {

std::int64_t Compute::number(std::string_view attribute) const {
  const int at = op->find_attribute(attribute);
  CHECK(at >= 0);
  return numbers[static_cast<std::size_t>(at)];
}

std::int64_t local_bytes(DType dtype) { return std::max<std::int64_t>(bytes(dtype), 1); }

}  // namespace deplo::ir
