// Verifies bodies at each level. All of them have the same few buffers.
#pragma once
#include <string>
#include <string_view>

#include "ir/program.h"

namespace deplo::ir::testing {

inline constexpr std::string_view buffers =
    "input a: f32[32, 64]\ninput t: f32[64, 32] strides=(1, 64)\ninput h: f16[32]\noutput c: f32[32, 64]\n";

inline std::string loop(std::string_view body) {
  return verify(parse("=== loop: k ===\n" + std::string(buffers) + std::string(body)));
}

inline std::string indented(std::string_view body) {
  std::string out = "  ";
  for (const char ch : body) out += ch == '\n' ? "\n  " : std::string(1, ch);
  out.resize(out.find_last_not_of(' ') + 1);
  return out;
}

// Verifies `body` inside Tile(axes=(a0: BLOCK, a1: THREAD, a2: REG, a3: VECTOR)).
inline std::string tile(std::string_view body) {
  return verify(parse("=== tile: k ===\n" + std::string(buffers) +
                      "Tile(axes=(a0:4=BLOCK, a1:8=THREAD, a2:4=REG, a3:16=VECTOR)):\n" + indented(body)));
}

// Verifies `body` inside Tile(axes=(a0: BLOCK, a1: THREAD)).
inline std::string kernel(std::string_view body) {
  return verify(
      parse("=== kernel: k ===\n" + std::string(buffers) + "Tile(axes=(a0:4=BLOCK, a1:8=THREAD)):\n" + indented(body)));
}

}  // namespace deplo::ir::testing
