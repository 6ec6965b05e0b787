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

/// What the thread does, one after the other: its loops are walked when the block begins. When it does it beside the
/// block is drawn: at once, as late as it may, or in between; only where threads wait for each other does it show.
class Producer {
 public:
  struct Step {
    const Stmt* source;
    std::function<void(Machine&)> run;
    std::function<bool(Machine&)> ready;  // empty: always
  };

  explicit Producer(Lanes& lanes) : lanes_(lanes) {}

  void start_block(std::uint64_t seed);
  void record(std::shared_ptr<const Step>);
  /// The block's threads come to a place where the order may show.
  void pass(Machine&);
  /// They wait until `done`: as far as the producer can go.
  void serve(Machine&, const std::function<bool()>& done);
  /// At a block's end. Throws Error where the producer would wait for ever.
  void finish(Machine&);

 private:
  struct Recorded {
    std::shared_ptr<const Step> step;
    std::vector<std::int64_t> variables;  // of all axes that are uniform
  };
  bool advance(Machine&);

  Lanes& lanes_;
  std::vector<Recorded> steps_;
  std::size_t next_ = 0;
  Rng rng_{0};
  std::uint64_t haste_ = 0;  // of three kinds
};

}  // namespace deplo::ir::exec
