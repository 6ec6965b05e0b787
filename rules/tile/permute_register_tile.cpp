// permute_register_tile: chooses which columns a thread of a matmul owns, and in which order its rows are computed.
//   Tile(…, a3:16=THREAD, a5:8=REG): … load b_smem[a7, ((a3 * 8) + a5)]: the threads' vectors lie 8 banks apart
//     →   Tile(…, a3:16=THREAD, a5:2=REG, a6:4=REG): … load b_smem[a7, (((a5 * 64) + (a3 * 4)) + a6)]
//   for a7 in 0..16: # reduce  →  for a7 in 0..16: # reduce per a4 (order=mk: one row of accumulators at a time)
#include <algorithm>
#include <numeric>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/banks.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"

namespace deplo::rules {
namespace {

// The register tile of a matmul: the REG axes that count its rows and its columns.
struct Strip {
  const ir::Axis* rows = nullptr;     // nullptr: fm = 1
  const ir::Axis* columns = nullptr;  // nullptr: fn = 1
  std::int64_t threads = 1;           // number of threads along n
  std::string thread;
};

// Finds the register tile of a program that has a matmul. register_tile puts the axis of the rows before that of the
// columns, and adds no axis for a single row or column.
Strip find_strip(const ir::Tile& tile) {
  std::vector<const ir::Axis*> regs, threads;
  for (const ir::Axis& axis : tile.axes) {
    if (axis.bind == ir::Bind::reg) regs.push_back(&axis);
    if (axis.bind == ir::Bind::thread) threads.push_back(&axis);
  }
  const ir::Axis &n = *threads.back(), &m = *threads[threads.size() - 2];
  Strip s = {nullptr, nullptr, n.extent, n.name};
  if (regs.size() == 2) s.rows = regs[0], s.columns = regs[1];
  if (regs.size() == 1) {  // an axis of one thread appears in no index
    const std::string& reg = regs[0]->name;
    const bool columns = walk_together(tile, n.name, reg) || (n.extent == 1 && !walk_together(tile, m.name, reg));
    (columns ? s.columns : s.rows) = regs[0];
  }
  return s;
}

// Returns the wavefronts of a warp, in one run of the block, for the loads that walk the columns, if each thread owns
// strips of `strip` columns. Contiguous columns are loaded as vectors. Rows that threads walk down will be padded to
// odd lengths.
double wavefronts(const std::vector<WarpAccess>& accesses, const Strip& s, std::int64_t strip, const Target& target) {
  const std::int64_t fn = s.columns->extent;
  double sum = 0;
  for (WarpAccess access : accesses) {
    if (access.load == nullptr) continue;
    const std::size_t slot = access.stage->slots > 1 ? 1 : 0;
    for (std::size_t d = 0; d < access.stage->slab.size(); ++d) {
      const auto step = ir::coefficient(access.load->index[d + slot], s.columns->name);
      if (!step || *step == 0) continue;
      for (auto& sample : access.samples)
        for (std::int64_t t = 0; t < access.threads; ++t)
          sample[d][static_cast<std::size_t>(t)] -= *step * (fn - strip) * (t % s.threads);
      ir::Stage layout = *access.stage;
      const bool contiguous = d + 1 == layout.slab.size() && *step == 1;
      if (contiguous) access.lanes = static_cast<int>(std::gcd(strip, target.vector_lanes)), access.run = 1;
      if (!contiguous && layout.slab.back().extent % 2 == 0) layout.pad = access.run;
      const BankCost cost = bank_cost(access, layout);
      sum += cost.times / access.lanes * cost.wavefronts;
    }
  }
  return sum;
}

// Returns the widths of strips, the one with the fewest wavefronts first. Of equal ones, the widest comes first.
std::vector<Value> strips(const ir::Program& program, const Strip& s, const Target& target) {
  const std::vector<WarpAccess> accesses = warp_accesses(program, Unrolled::all);
  std::vector<std::pair<double, std::int64_t>> scored;
  const std::int64_t fn = s.columns->extent;
  std::vector<std::int64_t> offered = {fn};
  for (const std::int64_t strip : {4, 2, 1})
    if (strip < fn && fn % strip == 0) offered.push_back(strip);
  for (const std::int64_t strip : offered) scored.emplace_back(wavefronts(accesses, s, strip, target), strip);
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Value> result;
  for (const auto& [score, strip] : scored) result.emplace_back(strip);
  return result;
}

Verdict decide_permute_register_tile(const ir::Program& program, const Target& target, const Pins& pins) {
  // On a CPU the columns of a thread are whole vectors, and its accumulators fit in the registers. Loading the columns
  // again for each row would only add loads.
  if (target.cpu) return Skip{"a CPU has no banks and keeps all its rows in registers"};
  if (pins.empty() && (!has_bind(tile_of(program), ir::Bind::reg) || !find_matmul(program)))
    return Skip{"no matmul with a register tile"};
  const Strip s = find_strip(tile_of(program));
  if (s.columns != nullptr && s.threads > 1 && !pins.integer("strip")) return Fork{"strip", strips(program, s, target)};
  if (s.rows != nullptr && !pins.text("order")) return Fork{"order", {Value{"km"}, Value{"mk"}}};
  return Apply{};
}

// Replaces ((t * fn) + r) by (((r1 * (threads * strip)) + (t * strip)) + r).
void permute(ir::Program& program, const Strip& s, std::int64_t strip) {
  const std::string t = s.thread, r = s.columns->name, outer = strip == 1 ? r : ir::fresh_axis(program);
  const std::int64_t fn = s.columns->extent, threads = s.threads;
  ir::Tile& tile = tile_of(program);
  const auto axis = std::find_if(tile.axes.begin(), tile.axes.end(), [&](const ir::Axis& a) { return a.name == r; });
  if (strip > 1) {
    axis->extent = strip;
    tile.axes.insert(axis, {outer, fn / strip, ir::Bind::reg});
  }
  const ir::Expr column = (ir::var(outer) * threads + ir::var(t)) * strip + (strip == 1 ? ir::Expr(0) : ir::var(r));
  renumber(program, t, r, fn, column);
}

ir::Program apply_permute_register_tile(ir::Program program, const Target&, const Pins& pins) {
  const Strip s = find_strip(tile_of(program));
  if (pins.text("order") == "mk") to_edit(program, *find_matmul(program)->reduce).per = s.rows->name;
  const auto strip = pins.integer("strip");
  if (strip && *strip < s.columns->extent) permute(program, s, *strip);
  return program;
}

}  // namespace

extern const Rule permute_register_tile = {
    .name = "permute_register_tile",
    .summary = "which columns a thread owns, and the order of its rows",
    .knobs = {{"strip", KnobType::integer}, {"order", KnobType::text}},
    .decide = decide_permute_register_tile,
    .apply = apply_permute_register_tile,
};

}  // namespace deplo::rules
