// A warp: 32 lanes with registers, in groups that are at the same instruction.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/ptx/block.h"
#include "measure/ptx/lane_groups.h"
#include "measure/ptx/registers.h"
#include "measure/ptx/warp_order.h"
#include "measure/ptx/warp_products.h"

namespace deplo::measure::ptx {

class Warp : public Registers {
 public:
  Warp(Block&, std::int64_t index);

  /// Executes at most `budget` instructions. Returns how many it executed; of those that only found that they still
  /// wait, none. Throws Finding with the place of the instruction.
  std::int64_t run(std::int64_t budget);
  bool has_ended() const { return alive_ == 0; }
  std::int64_t take_thread_instructions();
  /// The lanes at an instruction that all lanes must execute together, if those that are missing wait elsewhere for
  /// such an instruction, too: they never come together. "" without one.
  std::string parted_lanes() const;
  /// "warp 2 at PTX line 120 (…), mbarrier.try_wait…" of each group, for deadlocks.
  std::string whereabouts() const;

  Block& block() const { return block_; }
  Machine& machine() const { return block_.machine(); }
  std::int64_t index() const { return index_; }
  Lanes alive() const { return alive_; }
  std::uint32_t at() const { return at_; }  // the instruction that is executed
  /// An access of the warp itself by this instruction.
  Access access() const { return order.access(at_); }
  /// Whether a wait that is not over shall end all the same (mbarrier.try_wait).
  bool returns_early() const { return returns_early_; }
  std::byte* local(std::size_t lane) { return local_.data() + lane * program_.local_bytes; }

  WarpOrder order;
  WarpProducts products;

  // ---- barriers
  struct Ticket {
    std::uint32_t barrier = 0;
    std::uint64_t turns = 0;
  };
  std::optional<std::int64_t> registers;         // of a thread, once setmaxnreg has changed them
  std::optional<Ticket> arrival;                 // at a barrier of the block
  std::optional<std::uint64_t> cluster_arrival;  // turns of the cluster's barrier before it
  /// The address of an mbarrier that a lane waits for, and the phase.
  std::array<std::optional<std::pair<std::uint64_t, std::uint64_t>>, warp_lanes> awaited_phase;

  // ---- asynchronous copies
  struct AsyncCopy {
    std::size_t lane = 0;
    std::int64_t group = 0;
    std::uint32_t at = 0;
    std::function<void()> work;
  };
  std::deque<AsyncCopy> copies;                             // cp.async, that are not done yet
  std::array<std::int64_t, warp_lanes> committed_copies{};  // groups of each lane

 private:
  /// Returns whether the group goes on.
  bool step(std::size_t current);
  bool are_together(LaneGroups::Group&, const Instruction&, Lanes active);
  void end(Lanes);

  Block& block_;
  std::int64_t index_;
  const Program& program_;
  std::vector<std::byte> local_;  // of each lane
  Lanes alive_ = 0;
  LaneGroups groups_;
  bool returns_early_ = false;
  std::optional<std::uint64_t> idle_since_;  // the machine's events when every group waited
  std::uint32_t at_ = 0;
  std::int64_t thread_instructions_ = 0;
};

}  // namespace deplo::measure::ptx
