// Where the values of a graph's inputs and parameters come from.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace deplo::ir {

/// How random values are drawn: normal(a, b²), uniform in [a, b), whole numbers in [a, b), or a everywhere.
struct Fill {
  enum class Draw : std::uint8_t { normal, uniform, integers, constant } draw = Draw::normal;
  double a = 0, b = 1;
  bool operator==(const Fill&) const = default;
};

/// Of one input or parameter. Values from a file, row-major, where it had them; shared, for they may be gigabytes.
struct Source {
  Fill fill;
  std::shared_ptr<const std::vector<float>> values;
  bool operator==(const Source&) const = default;
};

}  // namespace deplo::ir
