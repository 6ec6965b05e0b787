// Compares a tile program, run by its interpreter, with its kernels, lowered block by block. The kernels run on OpenCL,
// in the interpreter of Kernel IR, and on the PTX machine for the first of NVIDIA's architectures.
#pragma once
#include <string>
#include <vector>

#include "ir/tile_program/launches.h"
#include "measure/device.h"
#include "rules/blocks/block_kernel.h"

namespace deplo::measure {

/// Reads a tile program from a file; `path` is relative to the source folder.
ir::tile_program::Program both_program(const std::string& path);

class Both {
 public:
  explicit Both(ir::tile_program::Program program) : program_(std::move(program)) {}

  /// Runs the program with each number of threads and with a random schedule: on OpenCL, in the interpreter of Kernel
  /// IR and on the PTX machine. Checks that no element differs by more than `relative` times the greatest element of
  /// its array plus `ulps` units in its own last place, and that the printed lines are equal in any order. Also checks
  /// that NVRTC compiles the kernel for each architecture. Skips what the machine lacks.
  void expect_equal(std::array<std::int64_t, 3> grid, double relative = 0, double ulps = 0);
  /// Returns the message of the Error that lowering for a target or running throws, or "" if there is none.
  std::string refusal(std::array<std::int64_t, 3> grid, std::string_view target = "opencl-cpu");
  /// Returns what the PTX machine finds in the heuristic's kernel for sm_80 after `part` of its source was replaced by
  /// `other`, or "" if it finds nothing.
  std::string finding(const std::string& part, const std::string& other) const;
  /// Returns the source of the heuristic's kernel for the launcher's grid.
  std::string source(std::string_view target) const;

  ir::tile_program::Launcher launcher;
  std::vector<std::int64_t> threads = {1, 32};  // numbers of threads per block
  bool draws = true;                            // also use a random schedule
  bool interprets = true;                       // also interpret kernels and run PTX; slow for many operations
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
