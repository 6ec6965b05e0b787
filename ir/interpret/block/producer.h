// Private to the interpreter: the thread that fills slots beside those of the block (Produce).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/rng.h"
#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

struct Machine;

/// Of one block.
struct ProducerState {
  struct Step {
    const Stmt* source;
    std::function<void(Machine&)> run;
    std::function<bool(Machine&)> ready;  // empty: always
  };
  struct Recorded {
    std::shared_ptr<const Step> step;
    std::vector<std::int64_t> variables;  // of all axes that are uniform
  };
  std::vector<Recorded> steps;
  std::size_t next = 0;
  Rng rng{0};
  std::uint64_t haste = 0;  // of three kinds
};

/// What the thread does, one after the other: its loops are walked when the block begins. When it does it beside the
/// block is drawn: at once, as late as it may, or in between; only where threads wait for each other does it show.
class Producer : public ProducerState {
 public:
  explicit Producer(Lanes& lanes) : lanes_(lanes) {}

  void start_block(std::uint64_t seed);
  void record(std::shared_ptr<const Step>);
  /// The block's threads come to a place where the order may show.
  void pass(Machine&);
  /// They wait until `done`: as far as the producer can go.
  void serve(Machine&, const std::function<bool()>& done);
  bool is_done() const { return next == steps.size(); }
  [[noreturn]] void fail() const;  // it waits for ever

 private:
  bool advance(Machine&);

  Lanes& lanes_;
};

}  // namespace deplo::ir::exec
