// Chunks of keys that threads compute without matrix instructions (helpers/key_chunks.h).
#pragma once
#include "rules/tile/helpers/chunks.h"

namespace deplo::rules::key_chunks {

/// The lowering for GPUs: threads and lanes lie along the keys in the first contraction, along the values in the
/// second.
class ThreadChunks : public Chunks {
 public:
  ThreadChunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target)
      : Chunks(std::move(program), sweep, shape, target) {}

 protected:
  void deal_out() override;
  void add_inputs() override;
  void mark_scores(ir::Loop& loop) const override { loop.per = key_groups_; }
  void mark_weights(ir::Loop& loop) const override { loop.per = value_groups_; }
  /// Adds the tile's axes that distribute the keys.
  virtual void deal_keys();
  /// Returns the key's position in the chunk, without the lane. All axes of the tile have their names.
  virtual ir::Expr place_keys() { return dealt_keys_; }
  /// Returns the number of keys per panel of a slab; 0 if panels do not split the keys.
  virtual std::int64_t panel() const { return 0; }

  std::string key_groups_, key_register_, value_groups_;  // axes of the tile; "" if there is none

 private:
  void deal_rows(const std::string& n);
  struct Elements {
    std::string groups, one;  // axes; "" if there is none
    ir::Expr place;
  };
  Elements deal(std::int64_t elements);

  ir::Expr dealt_keys_ = 0;
};

/// The lowering for CPUs: each thread of a block has its own rows, whose scores pass through memory. The registers hold
/// the accumulators of one loop at a time.
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

  // Groups of keys, computed one after the other; keys of a lane in each group.
  std::int64_t groups_ = 1, keys_of_group_ = 1;
  std::string group_, key_of_group_;  // axis of the loop over groups; REG axis of a lane's keys
};

}  // namespace deplo::rules::key_chunks
