// Constants at the limits of their types, as programs spell them.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace deplo::testing {

inline constexpr std::array<std::string_view, 24> f32_constants = {
    "0",
    "-0",
    "0.1",
    "-1",
    "inf",
    "-inf",
    "1e+300",
    "-1e+300",
    "1.7976931348623157e+308",
    "3.4028234663852886e+38",   // the largest f32
    "-3.4028234663852886e+38",  //
    "3.4028235677973362e+38",   // the largest double that rounds to the largest f32
    "3.4028235677973366e+38",   // the smallest double that does not
    "-3.4028235677973366e+38",
    "1.1754943508222875e-38",  // the smallest normal f32
    "1.1754943157898259e-38",  // below it by a quarter of the spacing of f32
    "1e-40",
    "-1e-40",
    "1.401298464324817e-45",  // the smallest positive f32
    "7.006492321624087e-46",  // just above half of the smallest f32, and exactly half of it
    "7.006492321624085e-46",
    "1e-300",
    "-1e-300",
    "5e-324"};
inline constexpr std::array<std::string_view, 6> i32_constants = {"0",          "-1",          "2147483647",
                                                                  "2147483646", "-2147483648", "-2147483647"};

/// Returns a kernel that writes each f32 constant to y and, as a vector of 4, to z; each i32 constant to n, and its
/// difference from 2147483600 or -2147483600 to d; true and false to t.
inline ir::Program constants_kernel() {
  std::string buffers, body;
  for (std::size_t i = 0; i < f32_constants.size(); ++i) {
    const std::string k = std::to_string(i), c(f32_constants[i]);
    body += "  v" + k + " = copy(" + c + ")\n  y[" + k + "] = v" + k + "\n";
    body += "  w" + k + ":f32x4 = copy(" + c + ")\n  z[" + std::to_string(4 * i) + "]:x4 = w" + k + "\n";
  }
  for (std::size_t i = 0; i < i32_constants.size(); ++i) {
    const std::string k = std::to_string(i), c(i32_constants[i]);
    body += "  n[" + k + "] = " + c + "\n  p" + k + ":i32 = copy(" + c + ")\n";
    body += "  q" + k + ":i32 = subtract(p" + k + ", " + (c[0] == '-' ? "-" : "") + "2147483600)\n";
    body += "  d[" + k + "] = q" + k + "\n";
  }
  body += "  t[0] = 0\n  t[1] = 1\n  r:boolx2 = copy(1)\n  t[2]:x2 = r\n";
  const std::string f32 = std::to_string(f32_constants.size()), i32 = std::to_string(i32_constants.size());
  const std::string lanes = std::to_string(4 * f32_constants.size());
  return ir::parse("=== kernel: constants ===\noutput y: f32[" + f32 + "]\noutput z: f32[" + lanes +
                   "]\noutput n: i32[" + i32 + "]\noutput d: i32[" + i32 +
                   "]\noutput t: bool[4]\nTile(axes=(a0:1=BLOCK, a1:1=THREAD)):\n" + body);
}

}  // namespace deplo::testing
