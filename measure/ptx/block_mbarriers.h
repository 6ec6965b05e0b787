// The mbarriers in a block's shared memory.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "measure/ptx/mbarrier.h"
#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {

class Block;

/// They are named by their offset in shared memory.
class BlockMbarriers {
 public:
  explicit BlockMbarriers(const Block& block) : block_(block) {}

  bool none() const { return all_.empty(); }
  void make(std::uint64_t offset, std::uint32_t count, const Access&);
  void remove(std::uint64_t offset) { all_.erase(offset); }
  /// Throws Finding if there is none, or if nothing orders its initialization and the access.
  Mbarrier& find(std::uint64_t offset, const Access&);
  /// Another block's warp arrives at the mbarrier.
  void arrive_from_afar(std::uint64_t offset, const Access&);
  /// Throws Finding if the range has bytes of an mbarrier.
  void check_plain(std::uint64_t offset, std::uint64_t size) const;
  /// The actor of the tensor copies that an mbarrier counts, and its next epoch.
  std::pair<Actor, Epoch> next_copy(std::uint64_t offset);
  /// How many were initialized. fence.mbarrier_init makes them known.
  Epoch initializations() const { return initializations_; }
  /// Checks what must be true when the block's last thread has ended.
  void check_end() const;

 private:
  struct Initialized {
    Mbarrier barrier;
    Access by;
    Epoch number = 0;
    std::map<Actor, Access> from_afar = {};  // the last arrival of each warp of another block
  };
  const Block& block_;
  std::map<std::uint64_t, Initialized> all_;
  std::map<std::uint64_t, std::pair<Actor, Epoch>> copies_;
  Epoch initializations_ = 0;
};

}  // namespace deplo::measure::ptx
