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

/// Each array that the program writes has its initial contents before each launch. The outputs are compared with those
/// of the interpreter of tile programs. The kernels print nothing. Not thread-safe but for code() and space().
class BlockProgram final : public OpaqueKernel {
 public:
  /// Throws Error in one line if the target's language cannot express the program, or an array is too large.
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
  /// Throws Error if the program writes no array: nothing would tell whether a schedule is right.
  void check_tunable() const;
  /// The kernel of a schedule of this program, which may print.
  rules::BlockKernel lower(rules::BlockSchedule) const;
  /// The schedule of a trail. The failure names what does not fit.
  Result<rules::BlockSchedule> schedule(const Trail& trail) const { return decisions_.schedule(trail); }

 private:
  std::vector<std::int64_t> usable_threads();
  std::string write_numbers(const std::string& name, const ir::Numbers&, const ir::TensorType&) const;
  const std::vector<ir::tile_program::Array>& initial() const;

  TileLaunch launch_;
  Target target_;
  const ir::tile_program::Entry& entry_;
  std::vector<ir::tile_program::Array> sizes_;  // the arrays without values
  std::int64_t scratch_ = 0;                    // bytes of a block: enough for each schedule
  rules::BlockDecisions decisions_;
  std::unique_ptr<const search::Space> space_;
  rules::BlockKernel heuristic_;
  ir::Program signature_;
  measure::WorkFolder folder_;
  mutable std::optional<std::vector<ir::tile_program::Array>> initial_;
};

/// The kernel as a device builds and launches it: all of its grid at once.
measure::KernelCode block_code(rules::BlockKernel);

}  // namespace deplo::engine
