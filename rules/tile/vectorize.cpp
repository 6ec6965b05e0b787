// vectorize: turns the contiguous dimension into vector values of `width` lanes. Staging copies take `copy_SOURCE`
// lanes.
//   Tile(…, a8:32=REG): … load b[k, ((a4 * 32) + a8)] …
//     →   Tile(…, a8:2=REG, a9:16=VECTOR): … load b[k, ((a4 * 32) + ((a8 * 16) + a9))] …
//   StridedLoop(a2 = a0; < 2048; += 256): … x[a1, a2] … Combine(acc0, op=add, over=(a0))
//     →   StridedLoop(a2 = (a0 * 4); < 2048; += 1024): … x[a1, (a2 + a9)] … Combine(acc0, op=add, over=(a0, a9))
//   b_smem = Stage(b, …)   →   b_smem = Stage(b, …) lanes=4
// A register tile keeps its shape. The elements of a pointwise thread are distributed again, lanes first. All sweeps of
// a row have the same width.
#include <algorithm>
#include <map>

#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/vector_axis.h"

namespace deplo::rules {
namespace {

// Returns the legal widths, the widest first. The widest one is always an option; narrower ones are options if their
// registers fit.
std::vector<Value> widths(const ir::Program& program, const VectorSite& site, const Target& target) {
  const std::int64_t values = ir::count_of(tile_of(program), ir::Bind::reg);
  // The halves of a vector are aligned and contiguous if the vector is. With redistributed elements, each width must be
  // checked.
  const bool halves = site.kind != VectorSite::Kind::elements;
  std::vector<Value> result;
  for (std::int64_t width = target.vector_lanes; width > 1; width /= 2)
    if (site.extent % width == 0 && (result.empty() || registers(values, width, target) <= register_budget(target)) &&
        ((halves && !result.empty()) || legal_vectors(program, site, width, target)))
      add_option(result, width);
  if (result.empty() || registers(values, 1, target) <= register_budget(target)) add_option(result, 1);
  return result;
}

// Returns whether no rule has decided about the stage's copies yet.
bool undecided(const ir::Stage& stage) { return stage.transport == ir::Transport::copy && stage.lanes == 0; }

std::string knob_of(const ir::Stage& stage) { return "copy_" + stage.source; }

// Returns the widest copies and copies of single elements. The widths between them make little difference.
std::vector<Value> copies(const ir::Program& program, const Staged& staged, const Target& target) {
  std::vector<Value> result;
  for (const int lanes : copy_widths(*staged.stage, *program.find(staged.stage->source), target, staged.scope))
    if (result.empty() || lanes == 1) add_option(result, lanes);
  return result;
}

Verdict decide_vectorize(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!pins.integer("width"))
    if (const auto site = find_vector_site(program)) return Fork{"width", widths(program, *site, target)};
  for (const Staged& staged : staged_buffers(program)) {
    if (!undecided(*staged.stage) || pins.integer(knob_of(*staged.stage))) continue;
    std::vector<Value> options = copies(program, staged, target);
    if (options.size() > 1) return Fork{knob_of(*staged.stage), std::move(options)};
  }
  if (pins.empty()) return Skip{"no register axis and no shared sweep to make vectors of"};
  return Apply{};
}

// Stages of one source share a knob. Each stage takes its widest legal copies, up to the knob's value.
void set_lanes(ir::Program& program, const Target& target, const Pins& pins) {
  std::map<std::string, int> lanes;  // key: the stage's buffer
  for (const auto& [stage, scope] : staged_buffers(program)) {
    const auto max_width = pins.integer(knob_of(*stage));
    if (!max_width || !undecided(*stage)) continue;
    for (const int width : copy_widths(*stage, *program.find(stage->source), target, scope))
      if (width <= *max_width) lanes[stage->buffer] = std::max(lanes[stage->buffer], width);
  }
  ir::for_each<ir::Stage>(program.body, [&](ir::Stage& stage) {
    if (lanes.contains(stage.buffer)) stage.lanes = lanes[stage.buffer];
  });
}

ir::Program apply_vectorize(ir::Program program, const Target& target, const Pins& pins) {
  set_lanes(program, target, pins);
  const std::int64_t width = pins.integer("width").value_or(1);
  if (width == 1) return program;
  const auto site = find_vector_site(program);
  return with_vectors(std::move(program), *site, width);
}

}  // namespace

extern const Rule vectorize = {
    .name = "vectorize",
    .summary = "lanes of vector values, and of staging copies",
    .knobs = {{"width", KnobType::integer}, {"copy_*", KnobType::integer, std::int64_t{1}}},
    .decide = decide_vectorize,
    .apply = apply_vectorize,
};

}  // namespace deplo::rules
