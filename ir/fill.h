// How the values of a tensor are drawn.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace deplo {
class Rng;
}

namespace deplo::ir {

enum class DType : std::uint8_t;

/// How random values are drawn: normal(a, b²), uniform in [a, b), whole numbers in [a, b), a everywhere, or whole numbers
/// in [a, b) of which none comes twice.
struct Fill {
  enum class Draw : std::uint8_t { normal, uniform, integers, constant, distinct } draw = Draw::normal;
  double a = 0, b = 1;
  bool operator==(const Fill&) const = default;
};

/// One value, as a tensor of that type has it: integers towards zero, boolean 0 or 1, of 16 bits the nearest.
double draw(const Fill&, DType, Rng&);
/// `count` values, as draw() has them; distinct ones, for which there must be as many numbers, in random order.
std::vector<double> draw(const Fill&, DType, std::int64_t count, Rng&);
/// Why no tensor of that type and so many elements can be filled so, as "expected …, found …"; "" where it can.
std::string fault(const Fill&, DType, std::int64_t elements = 1);
/// "uniform(0.1, 1)", "normal(0, 1)", "randint(0, 32000)", "constant(2)", "distinct(0, 9)": numbers that read back
/// exactly.
std::string print(const Fill&);

}  // namespace deplo::ir
