// specialize_warps: additional threads fill the slots of a chunk loop by TMA, ahead of the threads that compute. The
// additional threads wait for free slots, the others for full ones, and the loop has no barrier of the whole block.
//   for a5 in 0..64: # free                        for a5 in 0..64: # free producers=128
//     n1_smem = Stage(n1, …) buffers=4@(a5 % 4) tma      →   …
//     AsyncWait(keep=0, phase=…, slot=(a5 % 4))
//     …
// One warp fills the slots. If warpgroups multiply, a whole warpgroup does, and leaves its registers to them
// (setmaxnreg).

#include "ir/hardware/mma.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

bool multiplies_by_warpgroups(const ir::Body& body) {
  const ir::Loop* loop = products_loop(body);
  return loop != nullptr && ir::mma::find_atom(loop->atom)->of_warpgroup();
}

std::int64_t producers_of(const ir::Body& body) {
  return multiplies_by_warpgroups(body) ? ir::mma::warpgroup : ir::gpu::warp;
}

// Returns why other threads cannot fill the loop's slots; "" if they can.
std::string obstacle(const ir::Program& program, const ir::Loop& loop, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::size_t stages = leading_stages(loop.body);
  for (std::size_t i = 0; i < stages; ++i)
    if (const auto& stage = *loop.body[i].as<ir::Stage>(); stage.transport != ir::Transport::tma || stage.slots < 2)
      return "not every slab is copied by TMA to several slots";
  if (loop.body[stages].as<ir::AsyncWait>() == nullptr) return "nothing waits for the slabs";
  for (std::size_t i = 0; i < stages; ++i)
    if (ir::names_value(tile.body, loop.body[i].as<ir::Stage>()->origin))
      return "a slab begins at a loaded number, which only the computing threads have";
  std::size_t all = 0;
  ir::for_each<ir::Stage>(tile.body, [&](const ir::Stage& stage) { all += stage.transport == ir::Transport::tma; });
  if (all > stages) return "TMA fills more than the slots of one loop";
  const std::int64_t threads = ir::count_of(tile, ir::Bind::thread), producers = producers_of(tile.body);
  if (threads % target.warp != 0) return "the block size is not a multiple of the warp size";
  if (threads + producers > target.max_threads) return "the block has no room for more threads";
  // ptxas limits all threads to the registers of the launch, even with setmaxnreg: 112 sums of m64n224k16 do not fit
  // with 512 threads.
  const std::int64_t others = multiplies_by_warpgroups(tile.body) ? other_registers_of_warpgroups : other_registers;
  if (thread_values(tile) + others > thread_registers(threads + producers, target))
    return "more threads leave too few registers for the sums";
  return "";
}

ir::Program with_producers(ir::Program program, std::size_t place) {
  ir::Tile& tile = tile_of(program);
  loop_at(tile, place).producers = producers_of(tile.body);
  return program;
}

Verdict decide_specialize_warps(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.tma) return Skip{"no TMA on this target (CUDA has it from sm_90 on)"};
  if (const auto apply_specialize_warps = pins.on_off("apply"))
    return *apply_specialize_warps ? Verdict(Apply{}) : Skip{"apply=0: all threads copy"};
  const ir::Tile& tile = tile_of(program);
  const std::vector<std::size_t> places = chunk_loops(tile);
  if (places.size() != 1) return Skip{"not exactly one chunk loop with stages"};
  if (std::string why = obstacle(program, loop_at(tile, places.front()), target); !why.empty()) return Skip{why};
  if (!fits_shared(with_producers(program, places.front()), target)) return Skip{"no shared memory left for barriers"};
  // Without setmaxnreg, a warp that only copies takes registers away from those that multiply.
  return on_off_fork("apply", multiplies_by_warpgroups(tile.body));
}

ir::Program apply_specialize_warps(ir::Program program, const Target&, const Pins&) {
  const std::size_t place = chunk_loops(tile_of(program)).front();
  return with_producers(std::move(program), place);
}

}  // namespace

extern const Rule specialize_warps = {
    .name = "specialize_warps",
    .summary = "separate threads that copy ahead of the computing threads",
    .knobs = {{"apply", KnobType::on_off, 0}},
    .decide = decide_specialize_warps,
    .apply = apply_specialize_warps,
};

}  // namespace deplo::rules
