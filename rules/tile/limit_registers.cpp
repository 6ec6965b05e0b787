// limit_registers: limits the registers of a thread, so that a unit holds `blocks` blocks at a time.
//   Tile(axes=(a0:16=BLOCK, a1:128=THREAD, a2:64=REG)):   →   Tile(axes=(…), resident=4):
// By default, the compiler chooses between more registers and more threads by its own rules of thumb. With fewer
// registers, more warps hide each other's latencies; with too few, the compiler spills (CUDA C++ Programming Guide,
// "Launch Bounds").
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t few_values = 16;  // values of a thread; with fewer, the thread's registers limit nothing

// Returns the numbers of blocks whose register limit is between one and two times the thread's need. A higher limit
// hardly has an effect. If several numbers have the same limit, only the largest is on offer.
std::vector<Value> blocks(const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t threads = launched_threads(tile), need = least_registers(thread_values(tile)),
                     fit = occupancy(threads, 1, shared_bytes(program, target), target).blocks;
  std::vector<Value> result = {Value{std::int64_t{0}}};
  for (std::int64_t count = 1; count <= fit; ++count) {
    const std::int64_t limit = thread_registers(threads, target, count);
    const bool last = count == fit || thread_registers(threads, target, count + 1) < limit;
    if (last && limit >= need && limit <= 2 * need) add_option(result, count);
  }
  return result;
}

Verdict decide_limit_registers(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!traits(target.dialect).register_limit) return Skip{"only CUDA takes a limit"};
  if (const auto count = pins.integer("blocks"))
    return *count == 0 ? Verdict(Skip{"blocks=0: the compiler chooses"}) : Apply{};
  if (thread_values(tile_of(program)) < few_values) return Skip{"a thread with few values needs few registers"};
  std::vector<Value> options = blocks(program, target);
  if (options.size() == 1) return Skip{"no number of blocks limits the registers"};
  return Fork{"blocks", std::move(options)};
}

ir::Program apply_limit_registers(ir::Program program, const Target&, const Pins& pins) {
  tile_of(program).resident = pins.integer("blocks").value();
  return program;
}

}  // namespace

extern const Rule limit_registers = {
    .name = "limit_registers",
    .summary = "a limit on registers, so that a unit holds several blocks",
    .knobs = {{"blocks", KnobType::integer, 0}},
    .decide = decide_limit_registers,
    .apply = apply_limit_registers,
};

}  // namespace deplo::rules
