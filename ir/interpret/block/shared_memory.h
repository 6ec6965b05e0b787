// Private to the interpreter: shared memory of a block, with its sanitizer.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

/// A cell with what the sanitizer must know. Epochs count barriers.
struct Cell {
  double value = 0;
  int writer = nobody, reader = nobody;
  std::uint32_t write_epoch = 0, read_epoch = 0;
  int products = 0;         // under way that read it
  bool stored = false;      // by a thread itself: what reads by descriptors (the asynchronous proxy) may not see it
  std::uint32_t clock = 0;  // when a thread of the block touched it last, by their arrivals at what a Produce waits for
  static constexpr int nobody = -1, several = -2;         // several: as a writer, all threads together
  static constexpr std::uint32_t in_flight = UINT32_MAX;  // as a write epoch: `value` is on its way, after all others
};

struct Shared : Layout {
  std::vector<Cell> cells;
  std::int64_t element_bytes, align;  // in bytes
  std::uint32_t read_afar = 0;        // behind which cluster barrier another block read it last; 0: none did
  bool of_warps = false;              // registers of warps, whose threads go in step: they count as one
};

/// Up to which arrivals of each block's threads, by its rank, something is known.
using Clocks = std::map<int, std::uint32_t>;

/// Of one block. The blocks of a cluster take turns on the machine.
struct SharedState {
  std::vector<Shared> buffers;
  std::uint32_t epoch = 0, cluster_epoch = 0;  // now, and behind the last barrier of the cluster
  std::uint32_t used_afar = 0;  // behind which of these another block copied or arrived here last; 0: none did
  std::uint32_t clock = 0;      // arrivals of the block's threads so far
  Clocks seen;                  // the producer has waited for these arrivals
};

/// Every access throws Error where the memory was not written, where another thread touched it with no barrier between,
/// and where a copy is under way.
class SharedMemory : public SharedState {
 public:
  explicit SharedMemory(const Lanes& lanes) : lanes_(lanes) {}

  bool producing = false;   // a producer is at work, of this block or of another one of its cluster,
  std::uint32_t known = 0;  // which knows of these arrivals of the block's threads

  void start_block();                                  // nothing is written
  void barrier() { ++epoch; }                          // of all threads
  void cluster_barrier() { cluster_epoch = ++epoch; }  // of all threads of the cluster
  /// At a block's end, which takes its memory away: nobody may use it afar without a cluster barrier behind that.
  void check_finished() const;

  double read(const Shared&, Cell&, int lane) const;
  /// Of a buffer of another block of the cluster, or of the own one.
  double read_afar(const SharedState& of, Shared&, const Cell&, int lane) const;
  void write(const Shared&, Cell&, int lane, double value) const;
  /// A copy by one thread starts; `value` is there when it lands.
  void start_copy(const Shared&, Cell&, int lane, double value) const;
  /// By all threads together: at once, or a copy that starts.
  void fill(const Shared&, Cell&, double value, bool starts) const;
  /// Copies of `count` cells from `first` on are there, as if `writer` had just written them.
  void land(int buffer, std::int64_t first, std::int64_t count, int writer);

 private:
  int owner(const Shared&, int lane) const;  // the thread, or of registers its warp
  void check_overwrite(const Shared&, const Cell&, int lane) const;

  const Lanes& lanes_;
};

}  // namespace deplo::ir::exec
