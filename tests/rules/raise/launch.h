// Launches a tile program both on its interpreter and as the kernels of Loop IR that it is raised to.
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

// Tolerances relative to an array's largest element: for sums of f32 in another order, for 16-bit results, and for
// tf32, because tensor cores round a factor that is halfway between two tf32 numbers away from zero.
inline constexpr double of_f32 = 1e-6, of_f16 = 1e-3, of_tf32 = 1e-4;

inline std::int64_t tiles(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }
/// Returns the distance between rows: `columns` rounded up to a multiple of 8, which the shared programs assume.
inline std::int64_t pitch(std::int64_t columns) { return tiles(columns, 8) * 8; }
/// Reads the program `name` of experiments/tile/exported.
ir::tile_program::Program own(const std::string& name);

/// Executes a kernel on its buffers.
using Runner = std::function<void(const ir::Program& kernel, ir::Memory&)>;
void run_loops(const ir::Program& kernel, ir::Memory&);

class Launch {
 public:
  /// Passes an array as pointer, extents and strides. `rows_apart`: the distance between rows; 0 if they are
  /// contiguous.
  Launch& array(const std::string& name, ir::DType, const ir::Shape& shape, std::int64_t rows_apart = 0);
  /// Passes an array of i32 with these values, as pointer, extent and stride.
  Launch& numbers(const std::string& name, const std::vector<std::int64_t>& values);
  /// Passes an array of i32 with these values, as pointer only.
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
  /// Returns the message of the Error that raising throws; "" if it throws none.
  std::string refusal(const ir::tile_program::Program&) const;

  /// Runs the tile program and the raised kernels. Returns the largest difference of an element, relative to the
  /// largest element of its array.
  double difference(const ir::tile_program::Program&, const Runner& runner = run_loops);

  ir::tile_program::Launcher launcher;
  TileLaunch raised;

 private:
  double compare(const ir::Module&, const std::string& output, const std::vector<double>& found) const;
};

}  // namespace deplo::rules
