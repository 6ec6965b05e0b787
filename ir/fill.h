// How the values of a tensor are drawn.
#pragma once
#include <cstdint>
#include <string>

namespace deplo {
class Rng;
}

namespace deplo::ir {

enum class DType : std::uint8_t;

/// How random values are drawn: normal(a, b²), uniform in [a, b), whole numbers in [a, b), or a everywhere.
struct Fill {
  enum class Draw : std::uint8_t { normal, uniform, integers, constant } draw = Draw::normal;
  double a = 0, b = 1;
  bool operator==(const Fill&) const = default;
};

/// One value, as a tensor of that type has it: i32 towards zero, boolean 0 or 1, of 16 bits the nearest.
double draw(const Fill&, DType, Rng&);
/// Why no tensor of that type can be filled so, as "expected …, found …"; "" where it can.
std::string fault(const Fill&, DType);
/// "uniform(0.1, 1)", "normal(0, 1)", "randint(0, 32000)", "constant(2)": numbers that read back exactly.
std::string print(const Fill&);

}  // namespace deplo::ir
