// Where a block's tiles are: in registers, in shared memory, or where these are full in scratch memory. Private to the
// room.
#pragma once
#include <cstdint>

#include "core/target.h"
#include "rules/blocks/thread_code.h"

namespace deplo::rules::blocks {

class TileMemory {
 public:
  explicit TileMemory(const Target& target) : target_(target) {}

  /// Bytes that are in use. Those of a region are free after it.
  struct Used {
    std::int64_t shared = 0, scratch = 0;
    bool operator==(const Used&) const = default;
  };
  const Used& used() const { return used_; }
  void free_to(const Used& before) { used_ = before; }
  /// The most bytes of scratch memory that a block ever uses.
  std::int64_t max_scratch() const { return max_scratch_; }

  /// Declares memory for `count` elements. `crosses`: threads read elements of other threads.
  Stored allocate(ThreadCode&, DType, std::int64_t count, bool crosses);

 private:
  const Target& target_;
  Used used_;
  std::int64_t max_scratch_ = 0;
};

/// The least multiple of `to` that has so many bytes.
std::int64_t aligned(std::int64_t bytes, std::int64_t to);

}  // namespace deplo::rules::blocks
