#include "ir/interpret/turns.h"

#include <algorithm>
#include <thread>

#include "core/error.h"

namespace deplo::ir::exec {

void Turns::run(int blocks, std::uint64_t seed, const std::function<void(int)>& block) {
  rng_ = Rng(seed);
  states_.assign(static_cast<std::size_t>(blocks), State::may_move);
  draw();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < blocks; ++rank)
    threads.emplace_back([this, rank, &block] {
      try {
        await(rank);
        block(rank);
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
      }
      set_moved();  // other blocks may wait for what this block did last
      states_[static_cast<std::size_t>(rank)] = State::done;
      draw();
    });
  for (std::thread& thread : threads) thread.join();
  if (failure_) std::rethrow_exception(failure_);
}

bool Turns::yield(bool moved) {
  const int rank = turn_;
  if (moved) set_moved();
  State& state = states_[static_cast<std::size_t>(rank)];
  state = moved ? State::may_move : State::waits;
  if (!draw()) return false;
  await(rank);
  return true;
}

void Turns::set_moved() { std::ranges::replace(states_, State::waits, State::may_move); }

// Gives the turn to a block that may move; returns false if there is none. A block that then fails marks the waiting
// blocks as movable, so that they end.
bool Turns::draw() {
  std::vector<int> may;
  for (std::size_t rank = 0; rank < states_.size(); ++rank)
    if (states_[rank] == State::may_move) may.push_back(static_cast<int>(rank));
  const std::scoped_lock lock(mutex_);
  if (may.empty()) return false;
  turn_ = may[rng_.below(may.size())];
  given_.notify_all();
  return true;
}

void Turns::await(int rank) {
  std::unique_lock lock(mutex_);
  given_.wait(lock, [&] { return turn_ == rank; });
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace deplo::ir::exec
