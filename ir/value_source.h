// Where the values of a graph's inputs and parameters come from.
#pragma once
#include <memory>

#include "ir/fill.h"
#include "ir/numbers.h"

namespace deplo::ir {

/// Of one input or parameter. Values from a file, row-major, where it had them; shared, for they may be gigabytes.
struct ValueSource {
  Fill fill;
  std::shared_ptr<const Numbers> values;
  bool given = false;    // by the user, beside the graph: kernels are measured with exactly this
  bool guessed = false;  // the fill: nothing says what the values are
  bool operator==(const ValueSource&) const = default;
};

}  // namespace deplo::ir
