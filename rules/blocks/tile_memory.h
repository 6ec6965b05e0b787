// Allocates the memory of a block's tiles: registers, shared memory or, if these are full, scratch memory. Private to
// the room.
#pragma once
#include <cstdint>

#include "core/target.h"
#include "rules/blocks/thread_code.h"

namespace deplo::rules::blocks {

class TileMemory {
 public:
  explicit TileMemory(const Target& target) : target_(target) {}

  /// Bytes in use. The memory of a region is free again after the region.
  struct Used {
    std::int64_t shared = 0, scratch = 0;
    bool operator==(const Used&) const = default;
  };
  const Used& used() const { return used_; }
  void free_to(const Used& before) { used_ = before; }
  /// The most bytes of scratch memory that a block uses at any time.
  std::int64_t max_scratch() const { return max_scratch_; }

  /// Declares memory for `count` elements. `crosses`: threads read elements of other threads.
  Stored allocate(ThreadCode&, DType, std::int64_t count, bool crosses);

 private:
  const Target& target_;
  Used used_;
  std::int64_t max_scratch_ = 0;
};

/// Returns true if the memory of a thread itself, the registers of a GPU or the stack of a CPU, has room for `own`
/// elements of a tile.
bool fits_in_thread(const Target&, std::int64_t threads, std::int64_t own);

/// Rounds `bytes` up to a multiple of `to`.
std::int64_t aligned(std::int64_t bytes, std::int64_t to);

}  // namespace deplo::rules::blocks
