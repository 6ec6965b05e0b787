// A warp: 32 lanes with their registers, in groups of lanes that are at the same instruction.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/ptx/block.h"
#include "measure/ptx/warp/lane_groups.h"
#include "measure/ptx/warp/registers.h"
#include "measure/ptx/warp/warp_order.h"
#include "measure/ptx/warp/warp_products.h"

namespace deplo::measure::ptx {

class Warp : public Registers {
 public:
  Warp(Block&, std::int64_t index);

  /// Executes at most `budget` instructions and returns how many it executed. An instruction that still waits does not
  /// count. Throws Finding with the place of the instruction.
  std::int64_t run(std::int64_t budget);
  bool has_ended() const { return alive_ == 0; }
  std::int64_t take_thread_instructions();
  /// Describes a warp that is stuck: all its groups of lanes wait at instructions that must be executed together, each
  /// group at a different one, so they never meet. Returns "" if the warp is not stuck in this way.
  std::string parted_lanes() const;
  /// Describes where each group of lanes is, for reports of deadlocks, as in "warp 2 (lanes 0xf) at bar.warp.sync of
  /// PTX line 120 (CUDA line 45)".
  std::string whereabouts() const;

  Block& block() const { return block_; }
  Machine& machine() const { return block_.machine(); }
  std::int64_t index() const { return index_; }
  Lanes alive() const { return alive_; }
  std::uint32_t at() const { return at_; }  // the current instruction
  /// Describes an access that the warp itself makes by the current instruction.
  Access access() const { return order.access(at_); }
  /// True if a wait (mbarrier.try_wait) should end although its phase is not complete.
  bool returns_early() const { return returns_early_; }
  std::byte* local(std::size_t lane) { return local_.data() + lane * program_.local_bytes; }

  WarpOrder order;
  WarpProducts products;
  std::size_t issued = 0;  // number of instructions that the warp has issued with its warpgroup (Issue)

  // ---- barriers
  struct Ticket {
    std::uint32_t barrier = 0;
    std::uint64_t turns = 0;
  };
  std::optional<std::int64_t> registers;         // per thread, once setmaxnreg has changed their number
  std::optional<Ticket> arrival;                 // at a barrier of the block, while the warp waits there
  std::optional<std::uint64_t> cluster_arrival;  // turns of the cluster's barrier before the warp arrived
  /// For each lane that waits for an mbarrier: the mbarrier's address, and the phase that the lane waits for.
  std::array<std::optional<std::pair<std::uint64_t, std::uint64_t>>, warp_lanes> awaited_phase;

  // ---- asynchronous copies
  struct AsyncCopy {
    std::size_t lane = 0;
    std::int64_t group = 0;
    std::uint32_t at = 0;
    std::function<void()> work;
  };
  std::deque<AsyncCopy> copies;                             // copies by cp.async that are not done yet
  std::array<std::int64_t, warp_lanes> committed_copies{};  // number of groups that each lane has committed

 private:
  /// Executes one instruction of a group. Returns true if the group can continue.
  bool step(std::size_t current);
  bool are_together(LaneGroups::Group&, const Instruction&, Lanes active);
  void end(Lanes);

  Block& block_;
  std::int64_t index_;
  const Program& program_;
  std::vector<std::byte> local_;  // local memory of all lanes
  Lanes alive_ = 0;
  LaneGroups groups_;
  bool returns_early_ = false;
  std::optional<std::uint64_t> idle_since_;  // the machine's event count when every group was waiting
  std::uint32_t at_ = 0;
  std::int64_t thread_instructions_ = 0;
};

}  // namespace deplo::measure::ptx
