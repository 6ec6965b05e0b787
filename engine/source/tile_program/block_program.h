// A launch of a tile program that runs block by block, as a kernel to tune (docs/tile_programs.md, "Block by block").
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/foreign/opaque_kernel.h"
#include "engine/source/tile_program/tile_launch.h"
#include "measure/work_folder.h"
#include "rules/blocks/block_kernel.h"

namespace deplo::engine {

/// Each array that the program writes is reset to its initial contents before each launch. The outputs are compared
/// with the outputs of the interpreter of tile programs. The kernels of code() print nothing. Only code() and space()
/// are thread-safe.
class BlockProgram final : public OpaqueKernel {
 public:
  /// Throws Error in one line if the target's language cannot express the program, or if an array is too large.
  BlockProgram(TileLaunch, Target);

  std::string identity() const override;
  std::string space_text() const override;
  const ir::Program& signature() const override { return signature_; }
  Dialect language() const override { return target_.dialect; }
  measure::InputFiles inputs() const override;
  std::string reference() const override;
  measure::Expectation expectation() const override;
  const search::Space& space() const override { return *space_; }
  measure::KernelCode code(const search::Position& candidate) const override;

  const std::string& name() const override { return launch_.entry; }
  search::PositionPtr candidate(std::string_view text, std::string_view place) const override;
  const TileLaunch& launch() const { return launch_; }
  /// Throws Error if the program writes no array, because then no output shows whether a schedule is right.
  void check_tunable() const;
  /// Returns the kernel with a schedule of this program. The kernel may print.
  rules::BlockKernel lower(rules::BlockSchedule) const;
  /// Returns the schedule of a trail. The failure names the knob or value that does not fit.
  Result<rules::BlockSchedule> schedule(const Trail& trail) const { return decisions_.schedule(trail); }

 private:
  std::vector<std::int64_t> usable_threads();
  std::string write_numbers(const std::string& name, const ir::Numbers&, const ir::TensorType&) const;
  const std::vector<ir::tile_program::Array>& initial() const;

  TileLaunch launch_;
  Target target_;
  const ir::tile_program::Entry& entry_;
  std::vector<ir::tile_program::Array> sizes_;  // the arrays, for their types and sizes, not their values
  std::int64_t scratch_ = 0;                    // bytes of scratch memory per block, enough for every schedule
  rules::BlockDecisions decisions_;
  std::unique_ptr<const search::Space> space_;
  rules::BlockKernel heuristic_;
  ir::Program signature_;
  measure::WorkFolder folder_;
  mutable std::optional<std::vector<ir::tile_program::Array>> initial_;
};

/// Returns the kernel in the form that a device builds and launches. Its whole grid is launched at once.
measure::KernelCode block_code(rules::BlockKernel);

}  // namespace deplo::engine
