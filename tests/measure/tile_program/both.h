// A launch of a tile program on the interpreter, and lowered block by block on OpenCL and for NVIDIA's GPUs, of which
// the PTX machine runs the first.
#pragma once
#include <string>
#include <vector>

#include "ir/tile_program/launches.h"
#include "measure/device.h"
#include "rules/blocks/block_kernel.h"

namespace deplo::measure {

/// A file below the source folder.
ir::tile_program::Program both_program(const std::string& path);

class Both {
 public:
  explicit Both(ir::tile_program::Program program) : program_(std::move(program)) {}

  /// Runs it, with some numbers of threads a block and by a random schedule, on OpenCL, on the interpreter of Kernel IR
  /// and on the PTX machine. No element differs by more than `relative` of the greatest of its array and `ulps` of its
  /// own last place; what is printed is equal line by line, in any order. And NVRTC takes it for each architecture.
  /// Skips what the machine lacks.
  void expect_equal(std::array<std::int64_t, 3> grid, double relative = 0, double ulps = 0);
  /// The message of the Error that lowering throws for a target, or running; "" without one.
  std::string refusal(std::array<std::int64_t, 3> grid, std::string_view target = "opencl-cpu");
  /// What the PTX machine finds in the heuristic's kernel for sm_80 once `part` of its source is `other`; "": nothing.
  std::string finding(const std::string& part, const std::string& other) const;
  /// The source of the heuristic's kernel for the launcher's grid.
  std::string source(std::string_view target) const;

  ir::tile_program::Launcher launcher;
  std::vector<std::int64_t> threads = {1, 32};  // others are drawn
  bool draws = true;                            // a random schedule, too
  bool interprets = true;                       // the kernels, and their PTX: slow where there are many operations
  std::vector<std::string> architectures = {"sm_80", "sm_90", "sm_120"};

 private:
  void expect_on_opencl(const std::vector<ir::tile_program::Array>& expected, const std::string& printed,
                        double relative, double ulps);
  void expect_on_ptx(const std::vector<ir::tile_program::Array>& expected, const std::string& printed, double relative,
                     double ulps);
  void expect_on(Device&, const rules::BlockSchedule&, const std::vector<ir::tile_program::Array>& expected,
                 const std::string& printed, double relative, double ulps);
  void expect_interpreted(const std::vector<ir::tile_program::Array>& expected, const std::string& printed,
                          double relative, double ulps);
  std::vector<rules::BlockSchedule> schedules(const Target&) const;
  void expect_compiles();
  ir::tile_program::Program program_;
};

}  // namespace deplo::measure
