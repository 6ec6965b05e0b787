#include "ir/interpret/block/producer.h"

#include "core/error.h"
#include "ir/interpret/machine.h"

namespace deplo::ir::exec {

void Producer::start_block(std::uint64_t seed) {
  steps.clear();
  next = 0;
  rng = Rng(seed);
  haste = rng.below(3);
}

void Producer::record(std::shared_ptr<const Step> step) {
  Recorded recorded{std::move(step), {}};
  for (const Variable& variable : lanes_.variables) recorded.variables.push_back(variable.scalar);
  steps.push_back(std::move(recorded));
}

bool Producer::advance(Machine& m) {
  if (is_done()) return false;
  const Recorded& at = steps[next];
  std::vector<std::int64_t> before;
  for (std::size_t i = 0; i < lanes_.variables.size(); ++i) {
    before.push_back(lanes_.variables[i].scalar);
    lanes_.variables[i].scalar = at.variables[i];
  }
  const Stmt* const statement = std::exchange(lanes_.statement, at.step->source);
  const bool ready = !at.step->ready || at.step->ready(m);
  if (ready) {
    m.shared.producing = true;
    at.step->run(m);
    m.shared.producing = false;
    ++next;
  }
  lanes_.statement = statement;
  for (std::size_t i = 0; i < before.size(); ++i) lanes_.variables[i].scalar = before[i];
  return ready;
}

void Producer::pass(Machine& m) {
  constexpr std::uint64_t max_advances = 8;
  const std::uint64_t advances = haste == 0 ? 0 : haste == 1 ? UINT64_MAX : rng.below(max_advances);
  for (std::uint64_t i = 0; i < advances && advance(m); ++i) {
  }
}

void Producer::serve(Machine& m, const std::function<bool()>& done) {
  pass(m);
  while (!done() && advance(m)) {
  }
}

void Producer::fail() const {
  throw Error("would hang: the producer of block " + std::to_string(lanes_.block) + " waits for ever at `" +
              text_of(*steps[next].step->source) + "`");
}

}  // namespace deplo::ir::exec
