// Asynchronous copies in flight, and the barriers that wait for them. Private to the interpreter.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/block/shared_memory.h"

namespace deplo::ir::exec {

/// A copy that has started and has not been waited for. It fills cells first … first + count - 1 of a shared buffer.
/// These cells already hold their new values, with the write epoch Cell::in_flight.
struct Flight {
  int shared;
  std::int64_t first, count;
  int thread;              // the thread that started the copy; Cell::several: the block
  std::int64_t group = 0;  // number of its group among those of the thread or block
};

/// An array of mbarriers. In Tile IR there is one for each slot of a TMA stage. A phase is complete after all arrivals,
/// when the expected bytes have been delivered. Copies land as late as possible: when a thread waits.
struct Barrier {
  struct Slot {
    std::int64_t arrivals = 0, expected = 0, delivered = 0;  // in this phase; `expected` and `delivered` in bytes
    std::int64_t phase = 0;
    std::int64_t afar = -1,
                 waited = -1;  // last phases of a remote arrival and of a wait
    std::vector<Flight> flights;
    Clocks arriving, complete;  // clocks of the arrivals in this phase, and in the last complete phase
  };
  std::string name;
  const Stmt* source;
  std::int64_t count;
  std::vector<Slot> slots;
  static constexpr std::uint32_t never = UINT32_MAX;
  std::uint32_t epoch = never;  // the epoch in which the barriers were initialised
};

/// An arrival at a barrier: the rank of the thread's block in the cluster, and the block's clock.
struct Arrival {
  int rank;
  std::uint32_t clock;
};

/// The asynchronous copies of one block.
struct CopyState {
  std::vector<Barrier> barriers;
  std::vector<Flight> flights;  // except copies that report to a barrier
  // Kernel IR: number of groups that each thread has committed. Tile IR: groups[0] is the number that the block has
  // started.
  std::vector<std::int64_t> groups;
};

class AsyncCopies : public CopyState {
 public:
  AsyncCopies(const Lanes& lanes, SharedMemory& shared) : lanes_(lanes), shared_(shared) {}

  void start_block();
  /// Called at the end of the block. Throws Error if a phase is incomplete and would outlive the block.
  void check_completed() const;

  // Kernel IR: cp.async groups of each thread.
  void start(int buffer, std::int64_t first, std::int64_t count, int thread);
  void commit(Mask mask);
  void wait_groups(std::int64_t keep, Mask mask);

  // Kernel IR: mbarriers.
  void init(int barrier);
  /// Returns the barrier that thread `lane` of block `rank` of the cluster uses. Throws Error for a slot out of range,
  /// and for a barrier whose initialisation may not be visible to the thread yet.
  Barrier::Slot& slot(int barrier, std::int64_t slot, int lane, int rank);
  /// Counts an arrival. The last arrival completes the phase if the phase expects no bytes.
  void arrive(int barrier, std::int64_t slot, std::int64_t bytes, int lane, const Arrival&);
  /// True if a wait for the phase returns: the phase is complete, or all its arrivals and bytes are there.
  bool completes(int barrier, std::int64_t slot, std::int64_t parity) const;
  /// `writer`: the thread that sees the copies afterwards; Cell::several for all threads.
  void wait(int barrier, std::int64_t slot, std::int64_t parity, int lane, int writer);

  // Tile IR: slots that all threads of the block fill together.
  void start_stage(int buffer, std::int64_t first, std::int64_t count, bool opens_group);
  void start_stage(int buffer, std::int64_t first, std::int64_t count, int barrier, std::int64_t slot);
  /// Counts the group of a stage that copies nothing.
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
