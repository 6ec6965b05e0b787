// The sources of the values of a graph's inputs and parameters.
#pragma once
#include <memory>

#include "ir/types/fill.h"
#include "ir/types/numbers.h"

namespace deplo::ir {

/// The source of the values of one input or parameter. `values`: the values in row-major order if a file has them,
/// otherwise null. They are shared, because they may take gigabytes.
struct ValueSource {
  Fill fill;
  std::shared_ptr<const Numbers> values;
  bool given = false;    // given by the user, separately from the graph; kernels are measured with exactly this source
  bool guessed = false;  // the fill is a guess, because nothing specifies the values
  bool operator==(const ValueSource&) const = default;
};

}  // namespace deplo::ir
