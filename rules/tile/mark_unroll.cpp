// mark_unroll: marks small loops to be unrolled.
//   for a6 in 0..16: # reduce   →   for a6 in 0..16: # reduce unroll
// The loops over a pipeline's last slabs are copies of those in its steady state, and share their marks.
#include <algorithm>
#include <deque>

#include "ir/hardware/mma.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/options.h"

namespace deplo::rules {
namespace {

using Loops = std::vector<const ir::Loop*>;  // a loop and its copies

constexpr std::int64_t full_trips = 64;  // the articles' budget: a loop of up to 64 trips may be unrolled whole
constexpr std::int64_t max_copies = 16;  // copies in a partial unroll; with more, the loop's overhead is negligible

// The additions of a sweep that a CPU's heuristic unrolls whole, and those that may be unrolled at all. PoCL builds 256
// of them in a second, 512 in 4 s and 784 in up to 50 s; the loop takes the same time (docs/performance.md, "Unrolled
// sums").
constexpr std::int64_t preferred_additions = 256, max_additions = 512;
// With more additions, a line of a window at a time is mostly faster (the same section), unless the line itself is too
// long: 5 additions of 128 sums took PoCL 9 s, the loop 2 s.
constexpr std::int64_t max_additions_of_window = 128;

bool computes_only(const ir::Loop& loop) { return !ir::has<ir::Loop, ir::Stage, ir::AsyncWait>(loop.body); }

void collect_innermost(const ir::Stmt& stmt, Loops& found) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop != nullptr && computes_only(*loop)) {
    if (ir::mma::trips(*loop) > 1) found.push_back(loop);
    return;
  }
  if (const ir::Body* inner = ir::inner_body(stmt))
    for (const ir::Stmt& s : *inner) collect_innermost(s, found);
}

// Returns whether the loop is the steady state of a pipeline whose last slabs are peeled: the loop waits for a slab and
// always stages a later one.
bool is_steady_state(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop == nullptr || loop->body.size() < 2 || loop->body[0].as<ir::AsyncWait>() == nullptr) return false;
  const auto* stage = loop->body[1].as<ir::Stage>();
  return stage != nullptr && stage->when.is_constant(1);
}

// Returns the loops in order, each with its copies. After a steady state, its last slabs have the same number of loops.
std::vector<Loops> decisions(const ir::Body& body) {
  std::vector<Loops> result;
  std::deque<std::size_t> to_come;  // positions in `result` of the loops whose copies come next
  for (const ir::Stmt& stmt : body) {
    Loops found;
    collect_innermost(stmt, found);
    for (const ir::Loop* loop : found) {
      if (!to_come.empty()) {
        result[to_come.front()].push_back(loop);
        to_come.pop_front();
        continue;
      }
      result.push_back({loop});
    }
    for (std::size_t i = 0; is_steady_state(stmt) && i < found.size(); ++i)
      to_come.push_back(result.size() - found.size() + i);
  }
  return result;
}

// Returns whether the loop is a sweep of a row on a CPU. Its sums do not fill the registers.
bool is_row_sweep(const ir::Loop& loop, const ir::Program& program, const Target& target) {
  const ir::Body& body = tile_of(program).body;
  const bool sweeps = std::ranges::any_of(body, [&](const ir::Stmt& stmt) { return stmt.as<ir::Loop>() == &loop; });
  return target.cpu && sweeps && !find_matmul(program);
}

// Returns whether the loop sums single elements of global memory. A GPU's thread has as many loads in flight as
// iterations are unrolled.
bool sums_elements_of_memory(const ir::Loop& loop, const ir::Program& program) {
  const auto loads = [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    return load != nullptr && program.find(load->buffer) != nullptr;
  };
  return loop.axis.bind == ir::Bind::reduce && !find_matmul(program) && !has_bind(tile_of(program), ir::Bind::vector) &&
         std::ranges::any_of(loop.body, loads);
}

// Returns whether the loop is the sum of a matmul on a CPU with few registers.
bool sums_with_few_registers(const ir::Loop& loop, const ir::Program& program, const Target& target) {
  return loop.axis.bind == ir::Bind::reduce && has_few_registers(target) && find_matmul(program);
}

// Returns the largest number of consecutive iterations, up to max_copies, in which the quotients of the loop's body
// stay the same: the elements of a line if the loop walks a window. 0 if the body has no such quotients.
std::int64_t iterations_of_line(const ir::Loop& loop) {
  std::int64_t line = 0;
  for (const std::int64_t divisor : divisors_of(loop.body, loop.axis.name))
    if (divisor > 1 && divisor <= max_copies && divisor < ir::mma::trips(loop) && ir::mma::trips(loop) % divisor == 0)
      line = divisor;
  return line;
}

// 0 stands for a full unroll, and the elements of a line for a loop over the lines of a window, each unrolled
// (rules/materialize/quotients.h). Compilers for CPUs unroll loops themselves, unless PoCL cannot see the number of
// iterations. On GPUs a loop over shared memory should be unrolled. On CPUs, softmax takes 0.6 to 0.9 of the time with
// its short sweeps fully unrolled (rows of 32 to 256), and rmsnorm 0.8 to 0.97 with its longer sums unrolled by 8
// (AVX2, PoCL). Matmuls with AVX2 take 0.86 to 1.03 of the time unrolled by 4, 0.97 in the geometric mean
// (docs/performance.md, "Twelve sums").
std::vector<Value> factors(const Loops& loops, const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const ir::Loop& loop = *loops.front();
  // The sums must stay in their registers from the fence to the end of the group. If a loop remains, ptxas serialises
  // the products of warpgroups (its messages C7519 and C7520).
  if (const ir::mma::Atom* atom = ir::mma::find_atom(loop.atom); atom != nullptr && atom->of_warpgroup())
    return {Value{std::int64_t{0}}};
  std::vector<Value> result;
  const std::int64_t trip = trip_instructions(loop, tile) * static_cast<std::int64_t>(loops.size());
  const std::int64_t max_factor = target.cpu ? full_trips : max_unrolled / trip;
  constexpr std::int64_t short_sweep = 32;  // iterations; unrolling longer sweeps costs more compile time than it gains
  const bool divides = !divisors_of(loop.body, loop.axis.name).empty();  // an unrolled window needs no divisions
  const bool sweep = is_row_sweep(loop, program, target), is_short = divides || ir::mma::trips(loop) <= short_sweep;
  const std::int64_t line = sweep ? iterations_of_line(loop) : 0, sums = ir::count_of(tile, ir::Bind::reg);
  const std::int64_t additions = ir::mma::trips(loop) * sums;
  const bool by_lines = line > 0 && line * sums <= preferred_additions;
  if (by_lines && additions > max_additions_of_window) add_option(result, line);
  const bool small = ir::mma::trips(loop) <= std::min(full_trips, max_factor) && (!sweep || additions <= max_additions);
  if (small && (!target.cpu || (sweep && is_short && additions <= preferred_additions))) add_option(result, 0);
  if (sweep && !is_short && loop.axis.bind == ir::Bind::reduce && ir::mma::trips(loop) % max_copies == 0)
    add_option(result, max_copies / 2);
  if (!target.cpu && !small && sums_elements_of_memory(loop, program))
    for (const std::int64_t factor : {max_copies, max_copies / 2})
      if (factor <= max_factor && ir::mma::trips(loop) % factor == 0 && result.empty()) add_option(result, factor);
  constexpr std::int64_t factor_of_sums = 4;
  if (sums_with_few_registers(loop, program, target) && ir::mma::trips(loop) % factor_of_sums == 0 &&
      ir::mma::trips(loop) > factor_of_sums)
    add_option(result, factor_of_sums);
  if (by_lines) add_option(result, line);
  add_option(result, 1);
  if (line > 0) add_option(result, line);
  for (const std::int64_t factor :
       divisors(ir::mma::trips(loop), 2, target.cpu ? max_copies / 2 : std::min(max_factor, max_copies)))
    if (ir::mma::trips(loop) > factor && (!target.cpu || (factor & (factor - 1)) == 0)) add_option(result, factor);
  if (small) add_option(result, 0);
  return result;
}

Verdict decide_mark_unroll(const ir::Program& program, const Target& target, const Pins& pins) {
  const ir::Tile& tile = tile_of(program);
  const std::vector<Loops> open = decisions(tile.body);
  if (open.empty()) return Skip{"no loop to unroll"};
  if (pins.size() == open.size()) return Apply{};
  const Loops& next = open[pins.size()];
  return Fork{next.front()->axis.name, factors(next, program, target)};
}

ir::Program apply_mark_unroll(ir::Program program, const Target&, const Pins& pins) {
  for (const Loops& loops : decisions(tile_of(program).body))
    for (const ir::Loop* loop : loops)
      to_edit(program, *loop).unroll = static_cast<int>(pins.integer(loops.front()->axis.name).value());
  return program;
}

}  // namespace

extern const Rule mark_unroll = {
    .name = "mark_unroll",
    .summary = "small loops unrolled",
    .knobs = {{"*", KnobType::integer}},
    .decide = decide_mark_unroll,
    .apply = apply_mark_unroll,
};

}  // namespace deplo::rules
