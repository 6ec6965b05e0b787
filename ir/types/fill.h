// The distributions from which the values of tensors are drawn.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deplo {
class Rng;
}

namespace deplo::ir {

enum class DType : std::uint8_t;

/// The distribution of random values: normal(a, b²), uniform in [a, b), integers in [a, b), the constant a, or distinct
/// integers in [a, b).
struct Fill {
  enum class Draw : std::uint8_t { normal, uniform, integers, constant, distinct } draw = Draw::normal;
  double a = 0, b = 1;
  bool operator==(const Fill&) const = default;
};

/// Draws one value and converts it to the type: integers are truncated, booleans are 0 or 1, 16-bit floats are rounded.
double draw(const Fill&, DType, Rng&);
/// Returns how many random numbers draw() takes for one value. CHECKs that the draw is not `distinct`, which has no
/// such number.
std::uint64_t numbers_of_one(const Fill&);
/// Draws `count` values. Distinct values come in random order; for these, CHECKs that [a, b) has at least `count`
/// integers.
std::vector<double> draw(const Fill&, DType, std::int64_t count, Rng&);
/// Returns why a tensor of that type and number of elements cannot be filled this way, as "expected …, found …", or ""
/// if it can.
std::string fault(const Fill&, DType, std::int64_t elements = 1);
/// The word for a distribution, such as "randint".
std::string_view word(Fill::Draw);
/// Prints a fill as "uniform(0.1, 1)", "normal(0, 1)", "randint(0, 32000)", "constant(2)" or "distinct(0, 9)". The
/// numbers read back exactly.
std::string print(const Fill&);

}  // namespace deplo::ir
