// Private to the interpreter: copies that are under way, and what waits for them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/block/shared_memory.h"

namespace deplo::ir::exec {

/// Cells first … first + count - 1 of a shared buffer that have been asked for and not been waited for. They carry
/// their values and the write epoch Cell::in_flight.
struct Flight {
  int shared;
  std::int64_t first, count;
  int thread;              // who asked; Cell::several: the block
  std::int64_t group = 0;  // of the thread, or of the block
};

/// An array of mbarriers; above Kernel IR, of each slot of a TMA stage. A phase is complete when all have arrived and
/// the bytes are those that were expected. Copies land as late as they may: when somebody waits.
struct Barrier {
  struct Slot {
    std::int64_t arrivals = 0, expected = 0, delivered = 0;  // in this phase; the last two in bytes
    std::int64_t phase = 0;
    std::vector<Flight> flights;
    Clocks arriving, complete;  // what those knew that have arrived in this phase, and in all that are complete
  };
  std::string name;
  const Stmt* source;
  std::int64_t count;
  std::vector<Slot> slots;
  static constexpr std::uint32_t never = UINT32_MAX;
  std::uint32_t epoch = never;  // of its initialisation
};

/// Who arrives at a barrier: a thread of this block of the cluster, with this clock.
struct Arrival {
  int rank;
  std::uint32_t clock;
};

/// Of one block.
struct CopyState {
  std::vector<Barrier> barriers;
  std::vector<Flight> flights;       // but those that report to a barrier
  std::vector<std::int64_t> groups;  // how many each thread, or in Tile IR the block, has asked for
};

class AsyncCopies : public CopyState {
 public:
  AsyncCopies(const Lanes& lanes, SharedMemory& shared) : lanes_(lanes), shared_(shared) {}

  void start_block();
  /// At its end: a phase that nobody waits for outlives the block.
  void check_completed() const;

  // Kernel IR: groups of each thread.
  void start(int buffer, std::int64_t first, std::int64_t count, int thread);
  void commit(Mask mask);
  void wait_groups(std::int64_t keep, Mask mask);

  // Kernel IR: mbarriers.
  void init(int barrier);
  /// That a thread of block number `rank` of the cluster uses.
  Barrier::Slot& slot(int barrier, std::int64_t slot, int lane, int rank);
  /// The last arrival completes a phase that waits for no bytes.
  void arrive(int barrier, std::int64_t slot, std::int64_t bytes, int lane, const Arrival&);
  /// Is the phase complete, or are all arrivals and bytes there?
  bool completes(int barrier, std::int64_t slot, std::int64_t parity) const;
  /// `writer`: who sees the copies then.
  void wait(int barrier, std::int64_t slot, std::int64_t parity, int lane, int writer);

  // Tile IR: slots that the block fills together.
  void start_stage(int buffer, std::int64_t first, std::int64_t count, bool opens_group);
  void start_stage(int buffer, std::int64_t first, std::int64_t count, int barrier, std::int64_t slot);
  /// Nothing is copied, and yet its group is counted.
  void skip_stage(bool opens_group) { groups[0] += opens_group ? 1 : 0; }
  void wait_stages(std::int64_t keep);
  void wait_stages(std::int64_t slot, std::int64_t phase);

 private:
  void land(const Flight& flight, int writer) { shared_.land(flight.shared, flight.first, flight.count, writer); }
  void complete(Barrier::Slot&, int writer);

  const Lanes& lanes_;
  SharedMemory& shared_;
};

}  // namespace deplo::ir::exec
