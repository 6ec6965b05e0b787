// One launch of a tile program for both: its interpreter, and the kernels of Loop IR that it is raised to.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/module.h"
#include "ir/tile_program/launches.h"
#include "rules/raise/raise.h"

namespace deplo::rules {

using Grid = std::array<std::int64_t, 3>;

// What 16 bits, and sums of f32 in another order, may differ by; and factors halfway between two of tf32, which tensor
// cores round away from zero.
inline constexpr double of_f32 = 1e-6, of_f16 = 1e-3, of_tf32 = 1e-4;

inline std::int64_t tiles(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }
/// Rows lie apart by a multiple of 8, as the shared programs assume.
inline std::int64_t pitch(std::int64_t columns) { return tiles(columns, 8) * 8; }
/// Of experiments/tile/exported.
ir::tile_program::Program own(const std::string& name);

/// Executes a kernel on its buffers.
using Runner = std::function<void(const ir::Program& kernel, ir::Memory&)>;
void run_loops(const ir::Program& kernel, ir::Memory&);

class Launch {
 public:
  /// Pointer, extents and strides.
  Launch& array(const std::string& name, ir::DType, const ir::Shape& shape, std::int64_t rows_apart = 0);
  /// Of i32, with these values.
  Launch& numbers(const std::string& name, const std::vector<std::int64_t>& values);
  /// The same, its pointer only.
  Launch& numbers_only(const std::string& name, const std::vector<std::int64_t>& values);
  Launch& pointer(const std::string& name, ir::DType, const ir::Shape& shape);
  template <class Number>
  Launch& scalar(Number number) {
    launcher.scalar(number);
    raised.arguments.emplace_back(number);
    return *this;
  }
  Launch& grid(Grid extents) {
    raised.grid = extents;
    return *this;
  }
  ir::Module raise(const ir::tile_program::Program& program) const { return rules::raise(program, raised); }
  /// The message of the Error that raising throws; "" without one.
  std::string refusal(const ir::tile_program::Program&) const;

  /// Runs both; the greatest difference of any element, relative to the greatest of its array.
  double difference(const ir::tile_program::Program&, const Runner& runner = run_loops);

  ir::tile_program::Launcher launcher;
  TileLaunch raised;

 private:
  double compare(const ir::Module&, const std::string& output, const std::vector<double>& found) const;
};

}  // namespace deplo::rules
