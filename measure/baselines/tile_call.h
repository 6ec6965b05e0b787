// A launch of a tile program, in the form that NVIDIA's compiler and driver take.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure {

struct TileCall {
  struct Argument {
    std::string buffer = {};               // a buffer of the kernel that the launch is compared with; "": a number
    std::vector<std::uint8_t> bytes = {};  // of the number, little endian
  };
  std::string problem = {};  // why there is no such launch, in one line; then the other members are empty
  std::vector<std::uint8_t> bytecode = {};
  std::string entry = {};
  std::vector<Argument> arguments = {};  // in the entry's order
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

}  // namespace deplo::measure
