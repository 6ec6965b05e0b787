// Which accesses happen before which: vector clocks over the warps of a cluster and their asynchronous work. They show
// accesses to shared memory that nothing orders. After FastTrack (Flanagan and Freund, PLDI 2009).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace deplo::measure::ptx {

/// A warp, its cp.async copies, its wgmma products, or the tensor copies that one mbarrier counts. What one actor does
/// is ordered.
using Actor = std::uint32_t;
using Epoch = std::uint32_t;  // counter of an actor; 0: before all that the actor does

/// For each actor, the last epoch that is known to be over.
class Clock {
 public:
  Epoch seen(Actor actor) const { return actor < epochs_.size() ? epochs_[actor] : 0; }
  void see(Actor actor, Epoch epoch) {
    if (actor >= epochs_.size()) epochs_.resize(actor + 1);
    if (epochs_[actor] < epoch) epochs_[actor] = epoch;
  }
  void join(const Clock& other);
  bool covers(const Clock& other) const;

 private:
  std::vector<Epoch> epochs_;
};

/// The memory that a proxy fence applies to (PTX ISA, "membar/fence").
enum class FencedMemory : std::uint8_t { shared, global, all };

/// `seen`: accesses that are known to be over. The proxy's clocks: those of them by the generic proxy to shared or to
/// global memory that also come before accesses by the asynchronous proxy (PTX ISA, "Proxies").
struct ProxyClocks {
  Clock seen, shared_proxy, global_proxy;
  void join(const ProxyClocks& other) {
    seen.join(other.seen);
    shared_proxy.join(other.shared_proxy);
    global_proxy.join(other.global_proxy);
  }
  bool covers(const ProxyClocks& other) const {
    return seen.covers(other.seen) && shared_proxy.covers(other.shared_proxy) &&
           global_proxy.covers(other.global_proxy);
  }
  /// Orders all that is known before accesses by the asynchronous proxy to this memory.
  void show_to_proxy(FencedMemory memory) {
    if (memory != FencedMemory::global) shared_proxy.join(seen);
    if (memory != FencedMemory::shared) global_proxy.join(seen);
  }
};

/// The clocks of several clusters: what their blocks have released through global memory. Copies share one map.
class ClusterClocks {
 public:
  const ProxyClocks* find(std::int64_t cluster) const;  // null if nothing is known of the cluster
  bool empty() const { return known_ == nullptr; }
  void join(const ClusterClocks&);
  void join(std::int64_t cluster, const ProxyClocks&);
  void show_to_proxy(FencedMemory);  // as ProxyClocks::show_to_proxy(), for all clusters

 private:
  using Map = std::map<std::int64_t, ProxyClocks>;
  std::shared_ptr<const Map> known_;
};

/// What an actor knows about its own cluster and about others.
struct Knowledge : ProxyClocks {
  ClusterClocks others;
  void join(const Knowledge& other) {
    ProxyClocks::join(other);
    others.join(other.others);
  }
  void show_to_proxy(FencedMemory memory) {
    ProxyClocks::show_to_proxy(memory);
    others.show_to_proxy(memory);
  }
};

using LaneSet = std::uint32_t;  // one bit per lane of a warp

/// Which accesses of a warp's lanes are ordered with each other: those before a bar.warp.sync that both lanes execute
/// (PTX ISA, "bar.warp.sync"), and those before another wait of the warp. Other instructions of a warp, such as
/// shuffles, do not order memory.
class LaneOrder {
 public:
  /// The current epoch of a lane.
  Epoch epoch(std::size_t lane) const { return parted_ == nullptr ? common_ : parted_->epochs[lane]; }
  bool covers(std::size_t lane, std::size_t other, Epoch epoch) const {
    return lane == other || epoch < (parted_ == nullptr ? common_ : parted_->seen[lane][other]);
  }
  void meet(LaneSet lanes);
  /// The lane waits for its own cp.async copies up to a group. Other lanes see them only after a barrier.
  void wait_for_copies(std::size_t lane, Epoch group);
  bool covers_copies(std::size_t lane, std::size_t other, Epoch group) const {
    return lane == other || (group <= waited_[other].size() && covers(lane, other, waited_[other][group - 1]));
  }

 private:
  static constexpr std::size_t lanes_ = 32;
  struct Parted {
    std::array<Epoch, lanes_> epochs;
    // seen[lane][other]: the lane knows the epochs of `other` below this one
    std::array<std::array<Epoch, lanes_>, lanes_> seen;
  };
  Epoch common_ = 1;                               // epoch of all lanes, as long as they have only met all together
  std::shared_ptr<Parted> parted_;                 // set once some lanes have met without the others
  std::array<std::vector<Epoch>, lanes_> waited_;  // epochs in which each lane waited for its groups of copies
};

struct Access {
  Actor actor = 0;
  Epoch epoch = 0;
  std::uint32_t at = 0;   // number of the instruction
  bool is_async = false;  // by the asynchronous proxy
  bool is_atomic = false;
  const Knowledge* before = nullptr;  // what the actor knows at the access
  const LaneOrder* lanes = nullptr;   // for a weak access or a copy by one lane of a warp; else null
  std::uint8_t lane = 0;
};

/// An earlier access that nothing orders with the given one. `needs_proxy_fence`: only a proxy fence is missing.
struct Conflict {
  Actor actor = 0;
  std::uint32_t at = 0;
  bool was_write = false, needs_proxy_fence = false;
  std::optional<int> lane = std::nullopt;  // the lane of the earlier access, if it is in the same warp
};

/// The last accesses to each part of a block's shared memory.
class Shadow {
 public:
  /// `granule`: bytes of the smallest access. `first_warp`, `first_copy` and `first_product`: the first actors of the
  /// block's own warps, of their cp.async copies and of their products, `warps` actors each. The warps and products do
  /// most reads.
  Shadow(std::size_t bytes, std::size_t granule, std::size_t warps, Actor first_warp, Actor first_copy,
         Actor first_product);
  /// Records a read at byte `at` of the memory. Returns the first conflict, or nullopt.
  std::optional<Conflict> read(std::size_t at, std::size_t size, const Access&);
  /// Records a write. `changes`: the write changes bytes in memory. A write of the same bytes conflicts with nothing.
  std::optional<Conflict> write(std::size_t at, std::size_t size, const Access&, bool changes = true);

 private:
  struct Write {
    Epoch epoch = 0;
    Actor actor = 0;
    std::uint32_t at = 0;
    bool is_async = false, is_atomic = false;
    std::uint8_t lane = 0;
    Epoch lane_epoch = 0;  // 0: not by a single lane
  };
  struct Read {
    Epoch epoch = 0;
    std::uint32_t at = 0;
    LaneSet lanes = 0;  // lanes that have read in lane_epoch
    Epoch lane_epoch = 0;
  };
  struct ActorRead {
    Actor actor = 0;
    Read read;
  };
  static Write write_of(const Access&);
  bool is_ordered(const Write& last, const Access&) const;
  static bool is_of_another_lane(const Write& last, const Access&);
  bool is_copy_of_another_lane(const Write& last, const Access&) const;
  static void note(Read&, const Access&);
  static std::optional<int> unordered_lane(const Read&, const Access&);
  Conflict conflict(const Write& last, const Access&) const;
  std::optional<Conflict> conflict_of_write(std::size_t granule, const Access&) const;
  Read* own_read(std::size_t granule, Actor);
  Actor actor_of(std::size_t slot) const;
  Actor copies_of(Actor warp) const { return warp + (first_copy_ - first_warp_); }

  std::size_t granule_, warps_;
  Actor first_warp_, first_copy_, first_product_;
  std::vector<Write> writes_;
  std::vector<Read> reads_;  // for each granule: by the block's own warps, then by their products
  std::unordered_map<std::size_t, std::vector<ActorRead>> others_;  // by other actors, for each granule
  // For each granule: writes that left its bytes unchanged, and that nothing orders with the last write or with reads
  // since then.
  std::unordered_map<std::size_t, std::vector<Write>> same_;
};

}  // namespace deplo::measure::ptx
