// Private to the interpreter: global and shared memory.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace deplo::ir::exec {

struct Layout {
  std::string name;
  std::vector<std::int64_t> shape, strides;
};
struct Global : Layout {
  std::span<double> data;                       // empty in evaluate_at
  std::span<const float> floats;                // inputs of evaluate_at …
  std::function<double(std::int64_t)> element;  // … or one element of them
  std::span<double> rounding;                   // of `data`, of outputs, where it is asked for
  // Of an output, who wrote each element: nobody 0, thread t of the launch t + 1 by `=` and -(t + 1) by `+=`, several
  // by
  // `+=` -INT64_MAX.
  std::vector<std::int64_t> writers;
};

/// A cell of shared memory with what the sanitizer must know. Epochs count barriers.
struct Cell {
  double value = 0;
  int writer = nobody, reader = nobody;
  std::uint32_t write_epoch = 0, read_epoch = 0;
  static constexpr int nobody = -1, several = -2;         // several: as a writer, all threads together
  static constexpr std::uint32_t in_flight = UINT32_MAX;  // as a write epoch: `value` is on its way, after all others
};
struct Shared : Layout {
  std::vector<Cell> cells;
  std::int64_t element_bytes, align;  // in bytes
};

/// The offset of an access in each lane.
struct Offsets {
  bool uniform;
  std::int64_t base;
  const std::int64_t* lanes;
  std::int64_t operator[](int lane) const { return uniform ? base : lanes[lane]; }
};

}  // namespace deplo::ir::exec
