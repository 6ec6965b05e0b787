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
  int products = 0;         // products in flight that read it
  bool stored = false;      // by a thread itself, so reads by descriptor (the asynchronous proxy) may not see it
  std::uint32_t clock = 0;  // SharedState::clock when a thread of the block last touched it
  std::uint32_t fence = 0;  // SharedState::fences when a thread itself last read it; 0: none did
  static constexpr int nobody = -1, several = -2;         // several: as a writer, all threads together
  static constexpr std::uint32_t in_flight = UINT32_MAX;  // as a write epoch: a copy of `value` is in flight
};

/// The bytes of an ir::Local in shared or scratch memory.
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
  std::uint32_t read_afar = 0;                      // cluster_epoch when another block last read it; 0: none did
  std::optional<LocalMemory> local = std::nullopt;  // of an ir::Local
  bool of_warps = false;  // registers of warps: the threads of a warp run in lockstep and count as one
};

/// By rank of a block: a clock, up to which the arrivals of the block's threads are known.
using Clocks = std::map<int, std::uint32_t>;

/// The shared memory of one block. The blocks of a cluster take turns on the machine.
struct SharedState {
  std::vector<Shared> buffers;
  std::uint32_t epoch = 0, cluster_epoch = 0;  // the present epoch, and that of the last cluster barrier
  std::uint32_t clock = 0;                     // arrivals of the block's threads so far
  std::uint32_t fences = 1;                    // 1 and the proxy fences so far: Cell::fence has 0 for no read
  Clocks seen;                                 // the producer has waited for these arrivals
};

/// Throws Error for a read of memory that was not written, for an access that races with another thread's (no barrier
/// is between them), and for an access to a cell whose copy is in flight.
class SharedMemory : public SharedState {
 public:
  explicit SharedMemory(const Lanes& lanes) : lanes_(lanes) {}

  bool producing = false;   // the running thread is a producer, of this block or of another block of its cluster
  std::uint32_t known = 0;  // that producer has seen this many arrivals of the block's threads

  void start_block();                                  // marks all cells as not written
  void barrier() { ++epoch; }                          // of all threads of the block
  void cluster_barrier() { cluster_epoch = ++epoch; }  // of all threads of the cluster
  /// At the end of a block, which frees its memory. Throws Error if another block used it after the last cluster
  /// barrier.
  void check_finished() const;

  double read(const Shared&, Cell&, int lane) const;
  /// A read by descriptor, through the proxy that copies by TMA use, too.
  double read_by_proxy(const Shared&, Cell&, int lane) const;
  /// Reads a buffer of another block of the cluster, or of the running block itself.
  double read_afar(const SharedState& of, Shared&, const Cell&, int lane) const;
  void write(const Shared&, Cell&, int lane, double value) const;
  /// Throws Error for a copy by TMA to a cell that a thread itself read after the last proxy fence.
  void check_proxy(const Shared&, const Cell&, int lane) const;
  /// One thread starts a copy; `value` may be read after it lands.
  void start_copy(const Shared&, Cell&, int lane, double value) const;
  /// All threads together fill the cell: at once, or (`starts`) by a copy that only starts.
  void fill(const Shared&, Cell&, double value, bool starts) const;
  /// The copies of `count` cells from `first` on land, as if `writer` had just written them.
  void land(int buffer, std::int64_t first, std::int64_t count, int writer);

 private:
  int owner(const Shared&, int lane) const;  // the thread; for registers of warps, its warp
  void check_overwrite(const Shared&, const Cell&, int lane) const;

  const Lanes& lanes_;
};

}  // namespace deplo::ir::exec
