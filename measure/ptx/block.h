// A running block, and its cluster.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/ptx/block_mbarriers.h"
#include "measure/ptx/memory.h"
#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {

class Cluster;
class Machine;
class Warp;

/// A barrier of a block (PTX ISA, "bar"). It turns (completes, and starts again) when enough threads have arrived.
struct NamedBarrier {
  /// How many threads have brought a true and a false predicate (PTX ISA, "bar.red").
  struct Votes {
    std::int64_t yes = 0, no = 0;
  };
  std::int64_t expected = 0;  // threads; 0: all threads of the warps that have not ended
  std::int64_t arrived = 0;
  std::uint64_t turns = 0;
  Knowledge arriving, complete;          // from the arrivals of the current turn, and of the last turn
  std::map<std::uint64_t, Votes> votes;  // by turn; a turn without votes has none
};

/// Numbers the actors (order.h) of a cluster.
class Actors {
 public:
  Actors(std::int64_t blocks, std::int64_t warps)
      : warps_(static_cast<Actor>(warps)),
        all_(static_cast<Actor>(blocks * warps)),
        blocks_(static_cast<Actor>(blocks)),
        next_(3 * all_ + 2 * blocks_) {}
  Actor warp(std::uint32_t rank, std::int64_t index) const { return rank * warps_ + static_cast<Actor>(index); }
  Actor copies(Actor warp) const { return all_ + warp; }
  Actor products(Actor warp) const { return 2 * all_ + warp; }
  Actor initializations(std::uint32_t rank) const { return 3 * all_ + rank; }  // of the block's mbarriers
  Actor start(std::uint32_t rank) const { return 3 * all_ + blocks_ + rank; }  // of the block
  Actor add_tensor_copies() { return next_++; }
  /// Describes an actor, as in "warp 3 of rank 0" or "a wgmma of warp 3".
  std::string describe(Actor) const;
  std::string describe_in_block(Actor) const;  // the same without the rank

 private:
  Actor warps_, all_, blocks_, next_;
};

inline constexpr std::size_t warpgroup_warps = 4;

/// An instruction that the four warps of a warpgroup issue together: wgmma or setmaxnreg. The first warp records it;
/// the others are compared with the record.
struct Issue {
  std::uint32_t at = 0;
  std::array<std::uint64_t, 2> matrices{};  // descriptors of the operands of wgmma
};

/// A block of the running launch. Most methods give instructions its parts.
class Block {
 public:
  Block(Machine&, Cluster&, std::int64_t index, std::uint32_t rank);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  Machine& machine() const { return machine_; }
  Cluster& cluster() const { return cluster_; }
  std::int64_t index() const { return index_; }
  std::uint32_t rank() const { return rank_; }
  SharedMemory& shared() { return shared_; }
  std::vector<std::unique_ptr<Warp>>& warps() { return warps_; }
  const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }

  /// Adds arrivals to a barrier and returns how many turns were complete before. `threads`: how many arrive.
  /// `expected`: as in NamedBarrier. Throws Finding if the barrier waits for a different number of threads, or if too
  /// many arrive.
  std::uint64_t arrive(std::uint32_t barrier, std::int64_t threads, std::int64_t expected, const Knowledge&);
  const NamedBarrier& barrier(std::uint32_t number) const { return barriers_[number]; }
  /// Adds votes to the current turn of a barrier. Must be called before the voting threads arrive.
  void vote(std::uint32_t barrier, const NamedBarrier::Votes&);

  BlockMbarriers& mbarriers() { return mbarriers_; }
  Shadow& shadow() { return shadow_; }
  std::int64_t& free_registers() { return free_registers_; }  // in the block's pool (setmaxnreg)
  /// Records or compares what a warp issues as its next instruction of a warpgroup. Throws Finding if it differs from
  /// what another warp of the warpgroup has issued, or if the warpgroup has fewer than four warps.
  void issue(Warp&, const Issue&);
  /// Records that a warp of another block accesses the block's shared memory, or arrives at an mbarrier there.
  void note_from_afar(const Access& access) { from_afar_[access.actor] = access; }
  /// Checks the block after its last thread has ended. Throws Finding if a warp has not issued all instructions of its
  /// warpgroup, if nothing orders an access from another block with the end, or as BlockMbarriers::check_end().
  void check_end() const;

  std::int64_t live_threads() const { return live_threads_; }
  void end_threads(std::int64_t count) { live_threads_ -= count; }
  void end_warp();

 private:
  Machine& machine_;
  Cluster& cluster_;
  std::int64_t index_;
  std::uint32_t rank_;
  SharedMemory shared_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::array<NamedBarrier, 16> barriers_{};
  BlockMbarriers mbarriers_;
  Shadow shadow_;
  std::vector<std::vector<Issue>> issues_;
  std::map<Actor, Access> from_afar_;  // last access by each warp of another block
  /// Number of threads that a barrier waits for.
  std::int64_t awaited(std::int64_t expected) const;
  void turn_if_complete(NamedBarrier&) const;
  std::int64_t live_threads_, live_warps_, free_registers_ = 0;
};

/// The blocks of one cluster. If the kernel has no clusters, each block is a cluster of its own.
class Cluster {
 public:
  Cluster(Machine&, std::int64_t number);
  std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }
  std::int64_t number() const { return number_; }
  bool has_ended() const { return live_threads() == 0; }
  std::int64_t live_threads() const;
  Actors& actors() { return actors_; }

  /// Arrives at barrier.cluster and returns the number of turns before this arrival. Threads that have ended count as
  /// arrived.
  std::uint64_t arrive(std::int64_t threads, const Knowledge&);
  std::uint64_t turns() const { return turns_; }
  const Knowledge& complete() const { return complete_; }  // from the arrivals of the last turn
  void turn_if_complete();

 private:
  Machine& machine_;
  std::int64_t number_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::int64_t arrived_ = 0;
  std::uint64_t turns_ = 0;
  Knowledge arriving_, complete_;
  Actors actors_;
};

}  // namespace deplo::measure::ptx
