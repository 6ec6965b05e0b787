// Interleaves the blocks of a cluster, one running at a time. Private to the interpreter.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "core/rng.h"

namespace deplo::ir::exec {

/// Each block has a thread of its own, so that it can stop anywhere. The seed determines which block runs next.
class Turns {
 public:
  /// Calls block(rank) for each rank. The first exception ends all blocks and is rethrown.
  void run(int blocks, std::uint64_t seed, const std::function<void(int)>& block);
  /// Called by the block that has the turn. Other blocks may have turns before this returns. `moved`: the block has
  /// made progress since its last turn. Returns false if this block and all others wait.
  bool yield(bool moved);
  /// Decides at random whether a block passes the turn on although it could continue.
  bool wants_to_yield() { return rng_.below(2) == 0; }

 private:
  enum class State : std::uint8_t { may_move, waits, done };

  void set_moved();
  bool draw();
  void await(int rank);

  std::mutex mutex_;
  std::condition_variable given_;
  std::vector<State> states_;  // indexed by rank
  int turn_ = 0;               // rank of the block that has the turn
  Rng rng_{0};
  std::exception_ptr failure_;
};

}  // namespace deplo::ir::exec
