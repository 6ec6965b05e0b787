// Explains to users why two kernels were not merged, by evaluating the conditions of merge.cpp again on the final
// kernels.
#include <fmt/format.h>

#include <algorithm>

#include "rules/fusion/guard.h"
#include "rules/fusion/loop_op.h"

namespace deplo::rules::fusion {
namespace {

bool is_kept_by_decision(const Fusion& fusion, const LoopOp& producer) {
  const Choice kept = {decision_name("merge", fusion.name(producer.output)), std::int64_t{0}};
  return std::ranges::count(fusion.decisions.trail(), kept) > 0;
}

std::string why_apart(Fusion& fusion, const LoopOp& producer, const LoopOp& consumer) {
  const std::optional<LoopOp> merged = splice(fusion, producer, consumer);
  if (!merged && !producer.axes.empty())
    return fmt::format("the axes of {} are parts of its dimensions", fusion.name(producer.output));
  if (!merged && (scan_axis(fusion.values, {producer.root}) >= 0 || scan_axis(fusion.values, roots(consumer)) >= 0))
    return "a scan kernel must read each element once, in order, and may not contain a reduction";
  if (!merged) return "its sums are gathered, so they must be in memory";
  if (const Refusal refusal = refuse(fusion, *merged, producer, consumer); !refusal.why.empty()) return refusal.why;
  const std::size_t readers = consumers(fusion, producer).size();
  const bool repeats = producer.cost.reductions > 0;
  if (fusion.stacks.stored.contains(producer.output))
    return fmt::format("{} is a piece of a joined tensor, and would be computed twice", fusion.name(producer.output));
  if (fusion.is_output(producer))
    return fmt::format("{} is an output of the graph, and would be computed twice", fusion.name(producer.output));
  if (readers > 1)
    return repeats ? fmt::format("each of {} kernels would recompute the sums", readers)
                   : fmt::format("recomputing it in {} kernels would access more bytes than reading it", readers);
  if (is_kept_by_decision(fusion, producer)) return decision_name("merge", fusion.name(producer.output)) + " is 0";
  return "part of its work would be repeated";
}

}  // namespace

std::vector<Apart> kernels_apart(Fusion& fusion) {
  std::vector<Apart> pairs;
  for (const LoopOp& producer : fusion.ops)
    for (const std::size_t i : consumers(fusion, producer)) {
      const LoopOp& consumer = fusion.ops[i];
      pairs.push_back(
          {fusion.name(producer.output), fusion.name(consumer.output), why_apart(fusion, producer, consumer)});
    }
  return pairs;
}

}  // namespace deplo::rules::fusion
