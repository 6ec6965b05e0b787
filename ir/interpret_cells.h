// Private to the interpreter: global and shared memory.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace deplo::ir::exec {

struct Layout {
  std::string name;
  std::vector<std::int64_t> shape, strides;
};
struct Global : Layout {
  std::span<double> data;             // empty in evaluate_at
  std::span<const float> floats;      // inputs of evaluate_at
  std::vector<std::int64_t> writers;  // of an output: who wrote each element last, none 0
};

/// A cell of shared memory with what the sanitizer must know. Epochs count barriers.
struct Cell {
  double value = 0;
  int writer = nobody, reader = nobody;
  std::uint32_t write_epoch = 0, read_epoch = 0;
  static constexpr int nobody = -1, several = -2;  // several: as a writer, all threads together
};
struct Shared : Layout {
  std::vector<Cell> cells;
};

/// The offset of an access in each lane.
struct Offsets {
  bool uniform;
  std::int64_t base;
  const std::int64_t* lanes;
  std::int64_t operator[](int lane) const { return uniform ? base : lanes[lane]; }
};

}  // namespace deplo::ir::exec
