// Asynchronous copies in flight, and the barriers that wait for them. Private to the interpreter.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/block/shared_memory.h"

namespace deplo::ir::exec {

/// A copy that has started and has not been waited for: cells first … first + count - 1 of a shared buffer. The cells
/// hold their new values already, with the write epoch Cell::in_flight.
struct Flight {
  int shared;
  std::int64_t first, count;
  int thread;              // that started the copy; Cell::several: the block
  std::int64_t group = 0;  // number among the thread's or the block's groups
};

/// An array of mbarriers. In Tile IR there is one for each slot of a TMA stage. A phase is complete after all arrivals,
/// when the expected bytes have been delivered. Copies land as late as possible: when a thread waits.
struct Barrier {
  struct Slot {
    std::int64_t arrivals = 0, expected = 0, delivered = 0;  // in this phase; the last two in bytes
    std::int64_t phase = 0;
    std::int64_t afar = -1,
                 waited = -1;  // the last phases at which another block arrived, and that the own one waited for
    std::vector<Flight> flights;
    Clocks arriving, complete;  // clocks of the arrivals in this phase, and in the last complete phase
  };
  std::string name;
  const Stmt* source;
  std::int64_t count;
  std::vector<Slot> slots;
  static constexpr std::uint32_t never = UINT32_MAX;
  std::uint32_t epoch = never;  // of the initialisation
};

/// An arrival at a barrier: the rank of the thread's block in the cluster, and the block's clock.
struct Arrival {
  int rank;
  std::uint32_t clock;
};

/// The copies of one block.
struct CopyState {
  std::vector<Barrier> barriers;
  std::vector<Flight> flights;       // without those that report to a barrier
  std::vector<std::int64_t> groups;  // how many groups each thread has committed; in Tile IR [0]: the block has started
};

class AsyncCopies : public CopyState {
 public:
  AsyncCopies(const Lanes& lanes, SharedMemory& shared) : lanes_(lanes), shared_(shared) {}

  void start_block();
  /// At the end of the block. Throws Error if a phase is incomplete: it would outlive the block.
  void check_completed() const;

  // Kernel IR: groups of each thread.
  void start(int buffer, std::int64_t first, std::int64_t count, int thread);
  void commit(Mask mask);
  void wait_groups(std::int64_t keep, Mask mask);

  // Kernel IR: mbarriers.
  void init(int barrier);
  /// The barrier that thread `lane` of block `rank` of the cluster uses. Throws Error for a slot out of range, and for
  /// a barrier whose initialisation the thread need not see yet.
  Barrier::Slot& slot(int barrier, std::int64_t slot, int lane, int rank);
  /// The last arrival completes the phase if it expects no bytes.
  void arrive(int barrier, std::int64_t slot, std::int64_t bytes, int lane, const Arrival&);
  /// Whether a wait for the phase returns: it is complete, or all its arrivals and bytes are there.
  bool completes(int barrier, std::int64_t slot, std::int64_t parity) const;
  /// `writer`: the thread that sees the copies afterwards; Cell::several: all threads.
  void wait(int barrier, std::int64_t slot, std::int64_t parity, int lane, int writer);

  // Tile IR: slots that all threads of the block fill together.
  void start_stage(int buffer, std::int64_t first, std::int64_t count, bool opens_group);
  void start_stage(int buffer, std::int64_t first, std::int64_t count, int barrier, std::int64_t slot);
  /// A stage that copies nothing. Its group is counted nevertheless.
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
