// The order of accesses to global memory by all blocks of a launch. Blocks are ordered only by what they release and
// acquire through global memory (PTX ISA, "Memory Consistency Model").
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "measure/ptx/address.h"
#include "measure/ptx/program.h"
#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {

struct GlobalAccess {
  Access made;
  std::int64_t block = 0;
  MemoryOrder order = {};
};

/// An earlier access that nothing orders with the given one, and why they conflict.
struct GlobalConflict {
  enum class Why { unordered, narrow_scope, needs_proxy_fence, non_coherent };
  std::int64_t block = 0;
  Actor actor = 0;
  std::uint32_t at = 0;
  bool was_write = false;
  Why why = Why::unordered;
};

class GlobalOrder {
 public:
  /// Numbers of allocations. All reads of these allocations are remembered from the beginning.
  using Tracked = std::set<std::uint64_t>;

  GlobalOrder(std::size_t granule, std::int64_t cluster_blocks, Tracked tracked);

  /// Records a read. The range of read() and write() must be in one allocation. Both return the first conflict, or
  /// nullopt.
  std::optional<GlobalConflict> read(std::uint64_t address, std::uint64_t size, const GlobalAccess&);
  /// Records a write. `changes`: the write changes bytes in memory. Two writes of the same bytes do not conflict.
  std::optional<GlobalConflict> write(std::uint64_t address, std::uint64_t size, const GlobalAccess&, bool changes);

  /// What strong writes to an address have released: to all blocks, and to the block of the last writer.
  struct Released {
    ClusterClocks to_device, to_block;
    std::int64_t block = 0;
    Actor writer = 0;
  };
  const Released* find(std::uint64_t address) const;  // null if nothing was released at the address
  /// Records a strong write to an address and what it releases. `updates`: the write is by an atomic operation, which
  /// continues what was released before.
  void release(std::uint64_t address, const Released&, bool updates);
  /// Records a weak write to an address: nothing is released there any more.
  void forget(std::uint64_t address);

  /// Allocations that were read and written later. Reads before the first write are remembered only for tracked
  /// allocations, because most arrays are never written. To check such reads, another launch must track these
  /// allocations.
  const Tracked& written_after_reads() const { return written_after_reads_; }

 private:
  struct Cell {
    std::uint32_t block = 0;
    Actor actor = 0;
    Epoch epoch = 0;  // 0: no access
    std::uint32_t at : 28 = 0, is_strong : 1 = 0, is_async : 1 = 0, scope : 2 = 0;
  };
  static constexpr std::size_t readers = 2;  // number of readers that are remembered per granule
  struct Allocation {
    bool was_read = false, tracked = false;
    // per granule: the last writes, and some of the reads since then; empty: none
    std::vector<Cell> weak, strong, reads;
  };

  Allocation& allocation(std::uint64_t number);
  /// What the access knows about the cluster of the earlier access; null: nothing.
  const ProxyClocks* known_of(const Cell&, const GlobalAccess&) const;
  bool includes(Scope scope, std::int64_t block, std::int64_t other) const;
  std::optional<GlobalConflict> conflict(const Cell&, const GlobalAccess&, bool was_write) const;
  static Cell cell(const GlobalAccess&);
  void remember_read(Allocation&, std::size_t granule, const GlobalAccess&);

  std::size_t granule_;
  std::int64_t cluster_blocks_;
  Tracked tracked_, written_after_reads_;
  std::vector<Allocation> allocations_;                   // by allocation number
  std::unordered_map<std::uint64_t, Released> released_;  // by address
};

}  // namespace deplo::measure::ptx
