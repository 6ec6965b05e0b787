// persistent_blocks: launches only as many blocks as the units hold. Each of them takes several blocks of the grid.
//   Tile(axes=(a0:8=BLOCK, a1:28=BLOCK, a2:128=THREAD, …)):
//     x_smem = Stage(x, origin=((a0 * 64), 0), …)
//     …
//       →   Tile(axes=(a0:132=BLOCK, a1:128=THREAD, …)):
//             for a9 in 0..2: # free
//               if (((a9 * 132) + a0) < 224):
//                 x_smem = Stage(x, origin=((min((((a9 * 132) + a0) / 28), 7) * 64), 0), …)
//                 …
// `order`: the blocks of the grid that a launched block takes are a launch apart ("waves", as the hardware schedules
// them), or neighbours ("shares"). If K is split (split_matmul_k), neighbours are parts of one sum, and the shares are
// those of Stream-K (Osama, Merrill, Cecka, Garland, Owens, "Stream-K: Work-Centric Parallel Decomposition for Dense
// Matrix-Matrix Multiplication on the GPU", PPoPP 2023) in units of a split: every block has the same share of the
// multiplications, however few tiles there are. The sum of each split is added in memory.
#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

// Blocks per unit. With more, blocks hide each other's beginnings and ends without this rule.
constexpr std::int64_t max_resident = 4;

// How often a tile fills the slots of TMA's copies: slot s is filled `rounds` times, and once more if s < `rest`.
struct Fills {
  std::int64_t rounds = 0, rest = 0;
  bool any() const { return rounds > 0 || rest > 0; }
};

class FillCounter {
 public:
  static bool holds_copies(const ir::Body& body) {
    return ir::any_of<ir::Stage>(body, [&](const ir::Stage& stage) { return stage.transport == ir::Transport::tma; });
  }

  void count(const ir::Body& body) {
    for (std::size_t i = 0; i < body.size();) {
      const std::size_t run = ir::stage_run(body, i);
      const auto group = std::span(body).subspan(i, run);
      const auto tma = std::ranges::find_if(
          group, [](const ir::Stmt& s) { return s.as<ir::Stage>()->transport == ir::Transport::tma; });
      if (tma != group.end()) count(*tma->as<ir::Stage>());
      if (const auto* loop = body[i].as<ir::Loop>(); loop != nullptr && holds_copies(loop->body)) count(*loop);
      i += std::max<std::size_t>(run, 1);
    }
  }

  // Returns the counts; nullopt if the slots are not filled in turn.
  std::optional<Fills> fills() const {
    if (times_.empty()) return Fills{};
    const Fills result = {times_.back(),
                          std::ranges::count(times_, times_.front()) % static_cast<std::int64_t>(times_.size())};
    for (std::size_t s = 0; s < times_.size(); ++s)
      if (times_[s] != result.rounds + (static_cast<std::int64_t>(s) < result.rest ? 1 : 0)) return std::nullopt;
    return result;
  }

 private:
  void count(const ir::Loop& loop) {
    at_.emplace_back(loop.axis.name, 0);
    for (std::int64_t i = ir::evaluate(loop.start, at_); i < loop.axis.extent; i += loop.step) {
      at_.back().second = i;
      count(loop.body);
    }
    at_.pop_back();
  }

  void count(const ir::Stage& stage) {
    times_.resize(std::max(times_.size(), static_cast<std::size_t>(stage.slots)));
    if (ir::evaluate(stage.when, at_) != 0) ++times_[static_cast<std::size_t>(ir::evaluate(stage.slot, at_))];
  }

  std::vector<std::pair<std::string, std::int64_t>> at_;
  std::vector<std::int64_t> times_;
};

// Returns how often a block fills the slots of TMA's copies. Returns nullopt if they are not filled in turn, or if a
// mask ends a loop over slabs early, because the number then differs between blocks.
std::optional<Fills> fills_of(const ir::Tile& tile) {
  const bool early = ir::any_of<ir::Loop>(
      tile.body, [&](const ir::Loop& loop) { return loop.end && FillCounter::holds_copies(loop.body); });
  if (early) return std::nullopt;
  FillCounter counter;
  counter.count(tile.body);
  return counter.fills();
}

bool adds_up(const ir::Tile& tile) {
  return ir::any_of<ir::Write>(tile.body, [&](const ir::Write& write) { return write.mode == ir::WriteMode::add; });
}

// Returns the numbers of blocks that the units hold, if the grid has more; 0 (the whole grid) comes first. The estimate
// assumes the minimum of registers that the accumulators take.
std::vector<Value> block_options(const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t grid = ir::count_of(tile, ir::Bind::block), threads = launched_threads(tile);
  std::int64_t registers = least_registers(thread_values(tile));
  if (producers(tile.body) > 0)  // producers leave their registers to the other threads
    registers = std::min(registers, thread_registers(threads, target));
  const std::int64_t fit = occupancy(threads, registers, shared_bytes(program, target), target).blocks;
  std::vector<Value> result = {Value{std::int64_t{0}}};
  for (std::int64_t resident = 1; resident <= std::min(fit, max_resident); ++resident)
    if (resident * target.units < grid) add_option(result, resident * target.units);
  return result;
}

Verdict decide_persistent_blocks(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"each thread of a CPU already executes several blocks"};
  const auto blocks = pins.integer("blocks");
  if (blocks == 0) return Skip{"blocks=0: the launch has one block for each block of the grid"};
  if (blocks)
    return pins.text("order") ? Verdict(Apply{}) : Fork{"order", {std::string("waves"), std::string("shares")}};
  const ir::Tile& tile = tile_of(program);
  if (staged_buffers(program).empty()) return Skip{"nothing is staged, so a block has no prologue to save"};
  if (ir::count_of(tile, ir::Bind::cluster) > 1) return Skip{"the blocks of a cluster begin together"};
  if (!fills_of(tile)) return Skip{"TMA does not fill the slots in turn"};
  std::vector<Value> options = block_options(program, target);
  if (options.size() == 1) return Skip{"the units hold the whole grid at once"};
  return Fork{"blocks", std::move(options)};
}

// Returns the position in the grid of the block with this number. The last axis varies fastest. Numbers beyond the grid
// are clamped to it, because the verifier does not carry the guard through the divisions.
ir::Substitution places(std::vector<ir::Axis> axes, const ir::Expr& number, bool beyond) {
  ir::Substitution result;
  ir::Expr rest = number;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const ir::Expr slowest = beyond ? ir::min(rest, axes[i].extent - 1) : rest;
    result.emplace_back(axes[i].name, i == 0 ? slowest : rest % axes[i].extent);
    rest = rest / axes[i].extent;
  }
  return result;
}

// Continues the phases of TMA's barriers where the previous block of the loop has stopped.
void continue_phases(ir::Body& body, const Fills& fills, const ir::Expr& before) {
  ir::for_each<ir::AsyncWait>(body, [&](ir::AsyncWait& wait) {
    ir::Expr times = fills.rounds % 2;
    if (fills.rest > 0) times = times + ir::less(wait.slot, fills.rest);
    if (!times.is_constant(0)) wait.phase = ir::simplify((wait.phase + before * times) % 2);
  });
}

ir::Program apply_persistent_blocks(ir::Program program, const Target&, const Pins& pins) {
  const std::int64_t blocks = pins.integer("blocks").value(), grid = ir::count_of(tile_of(program), ir::Bind::block),
                     turns = ceil_div(grid, blocks);
  const ir::Axis block = {ir::fresh_axis(program), blocks, ir::Bind::block};
  ir::Tile& tile = tile_of(program);
  const bool split = adds_up(tile), shares = pins.text("order") == "shares";
  std::vector<ir::Axis> taken;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::block) taken.push_back(axis);
  if (shares && split) std::rotate(taken.begin(), taken.begin() + 1, taken.end());  // the parts of K vary fastest
  std::erase_if(tile.axes, [](const ir::Axis& axis) { return axis.bind == ir::Bind::block; });
  tile.axes.insert(tile.axes.begin(), block);
  const std::string turn = ir::fresh_axis(program);
  const ir::Expr b = ir::var(block.name), t = ir::var(turn);
  ir::Expr number = t * blocks + b, goes_on = ir::less(number, grid);
  if (shares) {  // grid / blocks each, and one more for the first grid % blocks
    const std::int64_t per_block = grid / blocks, rest = grid % blocks;
    number = b * per_block + ir::min(b, rest) + t;
    goes_on = ir::less(t, ir::less(b, rest) + per_block);
  }
  if (const Fills fills = *fills_of(tile); fills.any()) continue_phases(tile.body, fills, ir::var(turn));
  ir::Loop loop = {{turn, turns, ir::Bind::free}, 0, 1, 1, std::move(tile.body)};
  const bool beyond = turns * blocks > grid;
  if (beyond) loop.body = ir::single(ir::If{goes_on, std::move(loop.body)});
  tile.body = ir::single(std::move(loop));
  ir::substitute_axes(program, places(taken, number, beyond));
  return program;
}

}  // namespace

extern const Rule persistent_blocks = {
    .name = "persistent_blocks",
    .summary = "as many blocks as the units hold, each of which executes several blocks of the grid",
    .knobs = {{"blocks", KnobType::integer, 0}, {"order", KnobType::text}},
    .decide = decide_persistent_blocks,
    .apply = apply_persistent_blocks,
};

}  // namespace deplo::rules
