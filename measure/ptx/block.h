// A block that runs, and the cluster that it is part of.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "measure/ptx/mbarrier.h"
#include "measure/ptx/memory.h"

namespace deplo::measure::ptx {

class Cluster;
class Machine;
class Warp;

/// A barrier of a block (PTX ISA, "bar"): turns when enough threads have arrived.
struct NamedBarrier {
  std::int64_t expected = 0, arrived = 0;
  std::uint64_t turns = 0;
};

/// What the four warps of a warpgroup issue together. The first warp writes it down, the others are compared with it.
struct Issue {
  std::uint32_t at = 0;
  std::array<std::uint64_t, 2> matrices{};  // descriptors
};

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

  /// Counts these threads in and returns the number of turns that were complete before. Throws Finding if the barrier
  /// is waiting for another number of threads.
  std::uint64_t arrive(std::uint32_t barrier, std::int64_t threads, std::int64_t expected);
  const NamedBarrier& barrier(std::uint32_t number) const { return barriers_[number]; }

  void make_mbarrier(std::uint64_t offset, std::uint32_t count);
  void remove_mbarrier(std::uint64_t offset);
  /// Throws Finding if there is none.
  Mbarrier& mbarrier(std::uint64_t offset);
  /// Throws Finding if the range has bytes of an mbarrier.
  void check_plain(std::uint64_t offset, std::uint64_t size) const;
  const std::map<std::uint64_t, Mbarrier>& mbarriers() const { return mbarriers_; }

  /// Writes down or compares what a warp of a warpgroup issues as its `number`-th.
  void issue(std::size_t warpgroup, std::size_t number, const Issue&);

  std::int64_t live_threads() const { return live_threads_; }
  void end_threads(std::int64_t count) { live_threads_ -= count; }
  /// Checks what must be true when the last thread has ended.
  void check_end() const;

 private:
  Machine& machine_;
  Cluster& cluster_;
  std::int64_t index_;
  std::uint32_t rank_;
  SharedMemory shared_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::array<NamedBarrier, 16> barriers_{};
  std::map<std::uint64_t, Mbarrier> mbarriers_;  // by offset
  std::vector<std::vector<Issue>> issues_;
  std::int64_t live_threads_;
};

/// The blocks of one cluster; one block where the kernel has no clusters.
class Cluster {
 public:
  Cluster(Machine&, std::int64_t number);
  std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }
  std::int64_t number() const { return number_; }
  bool has_ended() const { return live_threads() == 0; }
  std::int64_t live_threads() const;

  /// barrier.cluster: the number of turns before this arrival. Threads that have ended count as arrived.
  std::uint64_t arrive(std::int64_t threads);
  std::uint64_t turns() const { return turns_; }
  void turn_if_complete();

 private:
  std::int64_t number_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::int64_t arrived_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace deplo::measure::ptx
