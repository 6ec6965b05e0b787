// What comes before what: vector clocks over the warps of a cluster and their asynchronous work, and the accesses to
// shared memory that nothing orders. After FastTrack (Flanagan and Freund, PLDI 2009).
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
/// is in order.
using Actor = std::uint32_t;
using Epoch = std::uint32_t;  // of an actor; 0: before all it did

/// The last epoch of each actor that is known to be over.
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

/// `proxy`: the accesses of the generic proxy that come before those of the asynchronous proxy, too (PTX ISA,
/// "Proxies").
struct ProxyClocks {
  Clock seen, proxy;
  void join(const ProxyClocks& other) {
    seen.join(other.seen);
    proxy.join(other.proxy);
  }
};

/// Clocks of several clusters: what their blocks have released through global memory. Copies share one map.
class ClusterClocks {
 public:
  const ProxyClocks* find(std::int64_t cluster) const;  // null: nothing is known
  bool empty() const { return known_ == nullptr; }
  void join(const ClusterClocks&);
  void join(std::int64_t cluster, const ProxyClocks&);
  /// All that is known comes before accesses of the asynchronous proxy, too.
  void show_to_proxy();

 private:
  using Map = std::map<std::int64_t, ProxyClocks>;
  std::shared_ptr<const Map> known_;
};

/// What an actor knows of its own cluster, and of others.
struct Knowledge : ProxyClocks {
  ClusterClocks others;
  void join(const Knowledge& other) {
    ProxyClocks::join(other);
    others.join(other.others);
  }
  void show_to_proxy() {
    proxy.join(seen);
    others.show_to_proxy();
  }
};

using LaneSet = std::uint32_t;  // of a warp

/// Which accesses of a warp's lanes come before others: those before a bar.warp.sync that both lanes execute (PTX ISA,
/// "bar.warp.sync"), or before another wait of the warp. Instructions of a warp alone, shuffles too, order no memory.
class LaneOrder {
 public:
  /// What the lane does from here on is in this epoch.
  Epoch epoch(std::size_t lane) const { return parted_ == nullptr ? common_ : parted_->epochs[lane]; }
  bool covers(std::size_t lane, std::size_t other, Epoch epoch) const {
    return lane == other || epoch < (parted_ == nullptr ? common_ : parted_->seen[lane][other]);
  }
  void meet(LaneSet lanes);

 private:
  static constexpr std::size_t lanes_ = 32;
  struct Parted {
    std::array<Epoch, lanes_> epochs;
    std::array<std::array<Epoch, lanes_>, lanes_> seen;  // by the first lane of the second: epochs below
  };
  Epoch common_ = 1;                // of all lanes, while they meet together only
  std::shared_ptr<Parted> parted_;  // once some have met without the others
};

struct Access {
  Actor actor = 0;
  Epoch epoch = 0;
  std::uint32_t at = 0;   // the number of the instruction
  bool is_async = false;  // through the asynchronous proxy
  bool is_atomic = false;
  const Knowledge* before = nullptr;  // what the actor knows
  const LaneOrder* lanes = nullptr;   // of a weak access by one lane of a warp
  std::uint8_t lane = 0;
};

/// An earlier access that the given one is not ordered with. `needs_proxy_fence`: but for the proxy it would be.
struct Conflict {
  Actor actor = 0;
  std::uint32_t at = 0;
  bool was_write = false, needs_proxy_fence = false;
  std::optional<int> lane = std::nullopt;  // of the same warp
};

/// Who accessed each part of a block's shared memory last.
class Shadow {
 public:
  /// `granule`: bytes of the smallest access. `first_warp` and `first_product`: actors of the block's own warps and of
  /// their products, `warps` of each, which read most.
  Shadow(std::size_t bytes, std::size_t granule, std::size_t warps, Actor first_warp, Actor first_product);
  /// At `at` bytes from the memory's beginning. Only the first conflict is returned.
  std::optional<Conflict> read(std::size_t at, std::size_t size, const Access&);
  /// `changes`: whether memory has other bytes afterwards. A write of the same bytes conflicts with nothing.
  std::optional<Conflict> write(std::size_t at, std::size_t size, const Access&, bool changes = true);

 private:
  struct Write {
    Epoch epoch = 0;
    Actor actor = 0;
    std::uint32_t at = 0;
    bool is_async = false, is_atomic = false;
    std::uint8_t lane = 0;
    Epoch lane_epoch = 0;  // 0: by no single lane
  };
  struct Read {
    Epoch epoch = 0;
    std::uint32_t at = 0;
    LaneSet lanes = 0;  // in lane_epoch
    Epoch lane_epoch = 0;
  };
  struct ActorRead {
    Actor actor = 0;
    Read read;
  };
  static Write write_of(const Access&);
  static bool is_ordered(const Write& last, const Access&);
  static bool is_of_another_lane(const Write& last, const Access&);
  static void note(Read&, const Access&);
  static std::optional<int> unordered_lane(const Read&, const Access&);
  static Conflict conflict(const Write& last, const Access&);
  std::optional<Conflict> conflict_of_write(std::size_t granule, const Access&) const;
  Read* own_read(std::size_t granule, Actor);
  Actor actor_of(std::size_t slot) const;

  std::size_t granule_, warps_;
  Actor first_warp_, first_product_;
  std::vector<Write> writes_;
  std::vector<Read> reads_;                                         // of own warps, then of their products, by granule
  std::unordered_map<std::size_t, std::vector<ActorRead>> others_;  // of other blocks
  // By granule: writes of the bytes that the last write left, which nothing orders with it or with reads since.
  std::unordered_map<std::size_t, std::vector<Write>> same_;
};

}  // namespace deplo::measure::ptx
