// The mbarriers in the shared memory of a block.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "measure/ptx/mbarrier.h"
#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {

class Block;

/// Each mbarrier is identified by its offset in shared memory.
class BlockMbarriers {
 public:
  explicit BlockMbarriers(const Block& block) : block_(block) {}

  bool none() const { return all_.empty(); }
  void make(std::uint64_t offset, std::uint32_t count, const Access&);
  void remove(std::uint64_t offset) { all_.erase(offset); }
  /// Returns the mbarrier at an offset. Throws Finding if there is none, or if nothing orders its initialization with
  /// the access.
  Mbarrier& find(std::uint64_t offset, const Access&);
  /// Checks a plain access. Throws Finding if the range overlaps an mbarrier.
  void check_plain(std::uint64_t offset, std::uint64_t size) const;
  /// Returns the actor for the tensor copies that an mbarrier counts, and its next epoch.
  std::pair<Actor, Epoch> next_copy(std::uint64_t offset);
  /// Number of initializations so far. fence.mbarrier_init makes them known to others.
  Epoch initializations() const { return initializations_; }
  /// Checks the mbarriers when the last thread of the block has ended. Throws Finding if an mbarrier still expects
  /// bytes.
  void check_end() const;

 private:
  struct Initialized {
    Mbarrier barrier;
    Access by;
    Epoch number = 0;
  };
  const Block& block_;
  std::map<std::uint64_t, Initialized> all_;
  std::map<std::uint64_t, std::pair<Actor, Epoch>> copies_;
  Epoch initializations_ = 0;
};

}  // namespace deplo::measure::ptx
