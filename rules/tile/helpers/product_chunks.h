// Chunks of keys whose scores and weighted sums are computed by matrix instructions (helpers/key_chunks.h).
#pragma once
#include <string>

#include "rules/tile/helpers/chunks.h"

namespace deplo::rules::key_chunks {

/// Assigns separate rows to each warp, or warpgroup. Its registers hold scores in the layout of a matrix instruction's
/// accumulators, which is also the layout of operand a of the next instructions (ir/hardware/mma.h).
class ProductChunks final : public Chunks {
 public:
  ProductChunks(ir::Program, const KeySweep&, const ChunkShape&, const Target&);

 protected:
  void deal_out() override;
  void add_inputs() override;
  void mark_scores(ir::Loop& loop) const override { loop.atom = atom_of(shape_.by, shape_.keys)->name; }
  void mark_weights(ir::Loop& loop) const override { loop.atom = atom_of(shape_.by, values_)->name; }
  ir::Smem probabilities() override;
  void simplify_scores() override;
  bool threads_meet() const override { return false; }
  std::string bound(const std::string& greatest) override;
  std::string exponential(const ir::Arg& score) override;

 private:
  void keep_rows();
  void stage_rows();
  void add_operand(const ir::Load& original, const Walk& keys, const Walk& columns);
  const ir::Load& placed(const ir::Load& original) const;
  bool is_maximum_read();
  bool has_summand();
  bool has_scaled_bound() const { return !may_be_least_; }

  const ProductOperands operands_;
  ir::Expr value_ = 0, depth_ = 0;  // column of a value, and position along the axis that a score sums over
  double power_ = 1;                // factor of a score in the exponent of exp2
  bool may_be_least_ = false;       // whether all scores of a row may be the lowest number
};

}  // namespace deplo::rules::key_chunks
