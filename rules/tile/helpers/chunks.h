// The lowering of a sweep over keys to chunks of keys: the parts that all three lowerings share (helpers/key_chunks.h).
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "rules/tile/helpers/key_chunks.h"

namespace deplo::rules::key_chunks {

/// Appends statements to a body, and creates fresh names for their values.
class Writer {
 public:
  explicit Writer(std::set<std::string, std::less<>> names) : names_(std::move(names)) {}

  std::set<std::string, std::less<>>& names() { return names_; }
  std::string fresh(const std::string& stem);
  template <class S>
  void add(S&& stmt) {
    to_->emplace_back(std::forward<S>(stmt));
  }
  std::string assign(ir::Op, std::vector<ir::Arg>);
  /// Directs the following statements to `body`. Returns the body to which statements were added before.
  ir::Body* write_to(ir::Body& body) { return std::exchange(to_, &body); }
  ir::Body& body() { return *to_; }

 private:
  std::set<std::string, std::less<>> names_;
  ir::Body* to_ = nullptr;
};

/// The lowering for GPUs: the scores of a chunk are in registers, and the threads of a row exchange exponentials
/// through shared memory or registers. Derived classes assign rows, keys and values to threads. The methods are the
/// choices of the derived classes, and the steps of a chunk in order. Each step appends to the statements of the step
/// before.
class Chunks {
 public:
  virtual ~Chunks() = default;
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  ir::Program run();

 protected:
  Chunks(ir::Program, const KeySweep&, const ChunkShape&, const Target&);

  /// Distributes the program's axes over threads and registers, and sets all members under "set by deal_out()".
  virtual void deal_out() = 0;
  /// Stages the inputs of a chunk's scores and weights.
  virtual void add_inputs() = 0;
  /// Mark how the loop that sums a score, or the loop that sums weighted values, is computed.
  virtual void mark_scores(ir::Loop&) const = 0;
  virtual void mark_weights(ir::Loop&) const = 0;
  /// Returns the memory that holds exponentials until they are multiplied by their weights, if there are weights.
  virtual ir::Smem probabilities();
  virtual void add_chunk();
  virtual void simplify_scores() {}
  /// Returns whether the threads of a row must wait for each other before they read exponentials.
  virtual bool threads_meet() const { return !thread_.empty(); }
  /// Returns the maximum score so far, raised to a number whose difference from any score is defined.
  virtual std::string bound(const std::string& greatest);
  /// Returns e^(score - bound).
  virtual std::string exponential(const ir::Arg& score);

  ir::Tile& tile();
  std::string add_axis(std::int64_t extent, ir::Bind);
  void replace_axes(const ir::Substitution&);
  /// Removes axis `n`, and makes all other axes block axes, except the axis of a block's rows. Returns the index of
  /// that axis.
  std::size_t deal_blocks(const std::string& n);

  /// Returns a variable that stands for the expression until the program is complete. The ranges of the complete
  /// program then simplify the expression.
  ir::Expr later(ir::Expr);
  /// Returns these statements of the sweep's body, for this key.
  ir::Body copied(const std::vector<std::size_t>& slice, const ir::Expr& key) const;
  /// Returns the statements that compute the scores from the staged copies.
  ir::Body scores() const;
  void read_staged(ir::Body&) const;
  /// Returns the score if the key is new, otherwise -inf. The last chunk may be shifted inwards, and then repeats keys
  /// of the chunk before.
  ir::Arg new_only(const ir::Arg& score, const ir::Expr& key);
  void combine(const std::string& acc, ir::Op);
  /// Raises the maximum to the chunk's maximum. `factor_` then scales the previous sums.
  void raise_maximum(const std::string& greatest);
  /// Adds the chunk's exponentials to the unweighted sums.
  void add_counts(const std::string& sum);
  /// Adds the chunk to the weighted sums. This is a contraction over the chunk. Each row's exponentials are computed by
  /// all threads of the row.
  void add_weighted();

  ir::Program program_;
  const KeySweep sweep_;
  const ChunkShape shape_;
  const Target& target_;
  Writer out_;
  ir::Loop keys_, chunk_;
  ir::SoftmaxSum step_;
  std::int64_t values_ = 1;  // number of values in a row
  ir::Smem probabilities_;
  std::vector<ir::Smem> kept_;                         // other memory that the program declares
  ir::Body before_;                                    // statements before the chunk loop
  std::vector<std::pair<ir::Load, ir::Load>> staged_;  // a load of the program, and the load of its staged copy
  ir::Expr origin_ = 0;                                // the chunk's first key
  ir::Expr key_in_chunk_ = 0, key_of_score_ = 0;       // variables from later(): for key_, and for origin_ + key_
  std::string weighted_;                               // the axis of the loop in add_weighted()
  std::string bound_, factor_;
  // set by deal_out():
  ir::Expr key_ = 0, row_ = 0;     // position in the chunk, and in the block
  std::vector<std::string> over_;  // axes over which a row's keys are distributed
  std::string lane_, thread_;      // axes of the tile; "" if there is none
  std::int64_t lanes_ = 1;

 private:
  ir::Loop chunk_loop();
  void leave_out_masked();
  /// Returns the first new key of the chunk. Weighting a repeated key by 0 would not hide an infinite value. Matrix
  /// instructions take whole chunks, so there repeated values must be finite.
  ir::Expr first_weighted() const;

  ir::Substitution placed_;  // from later()
};

bool has_weights(const ir::SoftmaxSum&);
/// Returns whether all weights of sum `i` are 1.
bool counts(const ir::SoftmaxSum&, std::size_t i);

}  // namespace deplo::rules::key_chunks
