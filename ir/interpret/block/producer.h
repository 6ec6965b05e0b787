// The producer thread (Produce), which fills slots while the block's other threads compute. Private to the interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/rng.h"
#include "ir/interpret/block/lanes.h"

namespace deplo::ir::exec {

struct Machine;

/// The state of one block's producer.
struct ProducerState {
  struct Step {
    const Stmt* source;
    std::function<void(Machine&)> run;
    std::function<bool(Machine&)> ready;  // empty: always ready
  };
  struct Recorded {
    std::shared_ptr<const Step> step;
    std::vector<std::int64_t> variables;  // values of all axes at this step
  };
  std::vector<Recorded> steps;
  std::size_t next = 0;
  Rng rng{0};
  std::uint64_t haste = 0;  // 0: as late as possible; 1: as early as possible; 2: at random
};

/// The recorded steps of the producer thread, in order. They are recorded at the beginning of the block by walking the
/// producer's loops. The seed determines how far the producer runs ahead of the block: as late as possible, as early as
/// possible, or in between. The producer advances only when the threads pass or wait at a point where the order can
/// matter.
class Producer : public ProducerState {
 public:
  explicit Producer(Lanes& lanes) : lanes_(lanes) {}

  void start_block(std::uint64_t seed);
  void record(std::shared_ptr<const Step>);
  /// Lets the producer advance: the block's threads have reached a point where the order can matter.
  void pass(Machine&);
  /// Advances the producer until `done`, as far as it can, while the block's threads wait.
  void serve(Machine&, const std::function<bool()>& done);
  bool is_done() const { return next == steps.size(); }
  [[noreturn]] void fail() const;  // throws Error: the producer waits forever

 private:
  bool advance(Machine&);

  Lanes& lanes_;
};

}  // namespace deplo::ir::exec
