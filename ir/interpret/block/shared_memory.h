// Shared memory of a block, with its sanitizer. Private to the interpreter.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

/// A cell and its state for the sanitizer. Epochs count barriers.
struct Cell {
  double value = 0;
  int writer = nobody, reader = nobody;
  std::uint32_t write_epoch = 0, read_epoch = 0;
  int products = 0;  // number of products in flight that read the cell
  // A thread itself stored the value, so reads by descriptor (the asynchronous proxy) may not see it.
  bool stored = false;
  std::uint32_t clock = 0;                         // SharedState::clock when a thread of the block last touched it
  std::uint32_t fence = 0;                         // SharedState::fences when a thread itself last read it; 0: no read
  static constexpr int nobody = -1, several = -2;  // several: all threads together, as a writer
  static constexpr std::uint32_t in_flight = UINT32_MAX;  // as a write epoch: a copy of `value` is in flight
};

/// The byte range of an ir::Local in shared or scratch memory.
struct LocalMemory {
  Space space = Space::shared;
  std::int64_t begin = 0, end = 0;
  bool overlaps(const LocalMemory& other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};

struct Shared : Layout {
  std::vector<Cell> cells;
  std::int64_t element_bytes, align;                // in bytes
  std::uint32_t read_afar = 0;                      // cluster_epoch when another block last read it; 0: no read
  std::optional<LocalMemory> local = std::nullopt;  // set for an ir::Local
  bool of_warps = false;  // registers of warps: the threads of a warp run in lockstep and count as one
};

/// Maps the rank of a block to a clock: the arrivals of the block's threads up to this clock are known.
using Clocks = std::map<int, std::uint32_t>;

/// The shared memory of one block. The blocks of a cluster take turns on the machine.
struct SharedState {
  std::vector<Shared> buffers;
  std::uint32_t epoch = 0, cluster_epoch = 0;  // the current epoch, and the epoch of the last cluster barrier
  std::uint32_t clock = 0;                     // number of arrivals of the block's threads so far
  // 1 + the number of proxy fences so far, because 0 in Cell::fence means no read.
  std::uint32_t fences = 1;
  Clocks seen;  // the arrivals that the producer has waited for
};

/// Accesses to shared memory, with checks. Throws Error for a read of memory that was not written, for an access that
/// races with another thread's access (no barrier is between them), and for an access to a cell whose copy is in
/// flight.
class SharedMemory : public SharedState {
 public:
  explicit SharedMemory(const Lanes& lanes) : lanes_(lanes) {}

  // The running thread is a producer, of this block or of another block of its cluster.
  bool producing = false;
  std::uint32_t known = 0;  // number of arrivals of the block's threads that this producer has seen

  void start_block();                                  // marks all cells as not written
  void barrier() { ++epoch; }                          // a barrier of all threads of the block
  void cluster_barrier() { cluster_epoch = ++epoch; }  // a barrier of all threads of the cluster
  /// Called at the end of a block, which frees its memory. Throws Error if another block used the memory after the last
  /// cluster barrier.
  void check_finished() const;

  double read(const Shared&, Cell&, int lane) const;
  /// Reads by descriptor, through the asynchronous proxy, which TMA copies also use.
  double read_by_proxy(const Shared&, Cell&, int lane) const;
  /// Reads a buffer of another block of the cluster, or of the running block itself.
  double read_afar(const SharedState& of, Shared&, const Cell&, int lane) const;
  void write(const Shared&, Cell&, int lane, double value) const;
  /// Throws Error for a TMA copy to a cell that a thread itself read after the last proxy fence.
  void check_proxy(const Shared&, const Cell&, int lane) const;
  /// Starts a copy by one thread; `value` may be read after the copy lands.
  void start_copy(const Shared&, Cell&, int lane, double value) const;
  /// Fills the cell by all threads together, at once or (`starts`) by a copy that stays in flight.
  void fill(const Shared&, Cell&, double value, bool starts) const;
  /// Lands the copies of `count` cells from `first` on, as if `writer` had just written them.
  void land(int buffer, std::int64_t first, std::int64_t count, int writer);

 private:
  int owner(const Shared&, int lane) const;  // the thread's number, or for registers of warps the warp's
  void check_overwrite(const Shared&, const Cell&, int lane) const;

  const Lanes& lanes_;
};

}  // namespace deplo::ir::exec
