// Numbers that share a word, a scale or a zero point are unpacked one by one, from a load that is the same in several
// iterations. The load moves to a loop around these iterations, together with all values that depend on nothing else in
// the loop:
//   for a0 in 0..4096: # reduce       →   for f0_ in 0..512: # free
//     in0:i32 = load q[(a0 / 8)]            in0:i32 = load q[f0_]
//     v0:i32 = index ((a0 % 8) * 4)         for a0 in 0..8: # reduce unroll
//     v1:i32 = shift_right(in0, v0)           v0:i32 = index (a0 * 4)
//     …                                       v1:i32 = shift_right(in0, v0) …
// Compilers do not do this: they would have to know that the quotient is the same in all iterations of a part of the
// loop. A loop that mark_unroll unrolls by the elements of a line of a window becomes a loop over lines, without
// divisions:
//   for a0 in 0..49: # reduce unroll=7        →   for f0_ in 0..7: # free
//     in0 = load x[(a0 / 7), (a1 + (a0 % 7))]       for a0 in 0..7: # reduce unroll
//     …                                               in0 = load x[f0_, (a1 + a0)] …
#include "rules/materialize/quotients.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/materialize/parallel_sums.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules::materializer {
namespace {

constexpr std::int64_t max_unrolled = 16;  // iterations; unrolled, they shift by constants

// Returns whether the loop only computes what it accumulates, from its first to its last iteration.
bool is_computation(const ir::Loop& loop) {
  const auto computes = [](const ir::Stmt& stmt) {
    return stmt.as<ir::Accum>() != nullptr || stmt.as<ir::Load>() != nullptr || stmt.as<ir::Assign>() != nullptr ||
           stmt.as<ir::Index>() != nullptr || stmt.as<ir::Prefetch>() != nullptr;
  };
  return loop.start.is_constant(0) && loop.step == 1 && !loop.end && std::ranges::all_of(loop.body, computes);
}

// Returns whether parallel_sums rewrites the loop, which then has to stay whole.
bool has_parallel_sums(const ir::Loop& loop) {
  std::set<std::string> accumulators;
  for (const ir::Stmt& stmt : loop.body)
    if (const auto* accum = stmt.as<ir::Accum>()) accumulators.insert(accum->dst);
  return accumulators.size() <= max_split_accumulators;
}

class QuotientSplit {
 public:
  explicit QuotientSplit(KernelBuilder& kernel) : kernel_(kernel) {}

  void rewrite(ir::Body& body) {
    for (ir::Stmt& stmt : body) {
      const std::size_t outside = scope_.size();
      if (auto* loop = stmt.as<ir::Loop>(); loop != nullptr && is_computation(*loop)) split(*loop);
      ir::open_axes(stmt, scope_);
      if (ir::Body* inner = ir::inner_body(stmt)) rewrite(*inner);
      scope_.resize(outside);
    }
  }

 private:
  // Splits by the largest possible divisor. The inner loop may be split again.
  void split(ir::Loop& loop) {
    const std::set<std::int64_t> divisors = divisors_of(loop.body, loop.axis.name);
    const bool whole = has_parallel_sums(loop);
    for (auto divisor = divisors.rbegin(); divisor != divisors.rend(); ++divisor) {
      const bool marked = *divisor == loop.unroll;
      if (*divisor > 1 && *divisor < loop.axis.extent && loop.axis.extent % *divisor == 0 && (marked || !whole))
        if (split_by(loop, *divisor, marked)) return;
    }
  }

  // Unless it is `marked`, a loop is only split if a load moves out of the inner loop.
  bool split_by(ir::Loop& loop, std::int64_t turns, bool marked) {
    const ir::Axis outer = {kernel_.fresh_axis(), loop.axis.extent / turns, ir::Bind::free};
    const std::string& inner = loop.axis.name;
    ir::Ranges around = scope_;
    around.emplace_back(outer.name, ir::Interval{0, outer.extent - 1});
    around.emplace_back(inner, ir::Interval{0, turns - 1});
    ir::Body before, rest;
    std::set<std::string, std::less<>> changing = {inner};  // the axis, and the values that depend on it
    bool loads = false;
    for (const ir::Stmt& stmt : loop.body) {
      ir::Body one = {stmt};
      replace_axis(one, inner, ir::var(outer.name) * turns + ir::var(inner), around);
      const bool stays = stmt.as<ir::Accum>() != nullptr || depends(one.front(), changing);
      if (stays) changing.insert(ir::defined(stmt));
      loads |= !stays && stmt.as<ir::Load>() != nullptr && depends(stmt, {inner});
      (stays ? rest : before).push_back(std::move(one.front()));
    }
    if (!loads && !marked) return false;
    ir::Loop left = loop;
    left.axis.extent = turns;
    left.unroll = turns <= max_unrolled ? 0 : loop.unroll;
    left.body = std::move(rest);
    before.emplace_back(std::move(left));
    loop.axis = outer;
    loop.unroll = 1;
    loop.body = std::move(before);
    return true;
  }

  KernelBuilder& kernel_;
  ir::Ranges scope_;
};

}  // namespace

void split_quotients(ir::Body& body, KernelBuilder& kernel) {
  if (kernel.target.cpu) QuotientSplit(kernel).rewrite(body);
}

}  // namespace deplo::rules::materializer
