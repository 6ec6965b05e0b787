// A launch of a tile program, in the form that NVIDIA's compiler and driver accept.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::measure {

struct TileCall {
  struct Argument {
    // name of a buffer of the kernel that the launch is compared with; "": the argument is a number
    std::string buffer = {};
    std::vector<std::uint8_t> bytes = {};  // the number, little-endian
  };
  std::string problem = {};  // why there is no such launch, in one line; if not "", the other members are empty
  std::vector<std::uint8_t> bytecode = {};
  std::string entry = {};
  std::vector<Argument> arguments = {};  // in the order of the entry's parameters
  std::array<std::int64_t, 3> grid = {1, 1, 1};
};

}  // namespace deplo::measure
