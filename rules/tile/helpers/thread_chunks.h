// Chunks of keys that threads compute without matrix instructions (helpers/key_chunks.h).
#pragma once
#include "rules/tile/helpers/chunks.h"

namespace deplo::rules::key_chunks {

/// GPUs: threads and lanes lie along the keys in the first contraction, along the values in the second.
class ThreadChunks : public Chunks {
 public:
  ThreadChunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target)
      : Chunks(std::move(program), sweep, shape, target) {}

 protected:
  void deal_out() override;
  void add_inputs() override;
  void mark_scores(ir::Loop& loop) const override { loop.per = key_groups_; }
  void mark_weights(ir::Loop& loop) const override { loop.per = value_groups_; }
  /// Adds the axes of the tile along which keys lie.
  virtual void deal_keys();
  /// The key in the chunk, but for the lane. All axes of the tile have their names.
  virtual ir::Expr place_keys() { return dealt_keys_; }
  /// The number of keys that lie together in a slab; 0: all.
  virtual std::int64_t panel() const { return 0; }

  std::string key_groups_, key_register_, value_groups_;  // axes of the tile; "": there is none

 private:
  void deal_rows(const std::string& n);
  struct Elements {
    std::string groups, one;  // axes; "": there is none
    ir::Expr place;
  };
  Elements deal(std::int64_t elements);

  ir::Expr dealt_keys_ = 0;
};

/// CPUs: each thread of a block has rows of its own, whose scores pass through memory. Registers are for the sums of
/// one loop at a time.
class MemoryChunks final : public ThreadChunks {
 public:
  using ThreadChunks::ThreadChunks;

 protected:
  ir::Smem probabilities() override;
  void add_chunk() override;
  void deal_keys() override;
  ir::Expr place_keys() override;
  std::int64_t panel() const override { return groups_ > 1 ? shape_.keys / groups_ : 0; }

 private:
  void add_dots();
  void add_score_groups();
  template <class F>
  void sweep_row(F&& f);

  std::int64_t groups_ = 1, keys_of_group_ = 1;  // groups of keys, one after the other; keys of a lane in each
  std::string group_, key_of_group_;             // axes of their loop, and of registers
};

}  // namespace deplo::rules::key_chunks
