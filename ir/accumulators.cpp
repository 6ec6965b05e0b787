#include "ir/accumulators.h"

#include <algorithm>

#include "ir/walk.h"

namespace deplo::ir {
namespace {

using Names = std::vector<std::string>;

// Checks whether the statement, or a statement inside it, uses one of the accumulators.
bool uses(const Stmt& stmt, const Names& accumulators) {
  if (const Body* body = inner_body(stmt))
    return std::any_of(body->begin(), body->end(), [&](const Stmt& s) { return uses(s, accumulators); });
  bool found = false;
  for_each_name(stmt, [&](Use use, const std::string& name) {
    found |= (use == Use::value || use == Use::defines) && std::ranges::count(accumulators, name) > 0;
  });
  return found;
}

// Returns the accumulators that share the scope of `acc`: all of a SoftmaxSum, because often nothing reads its maximum.
Names together(const Body& body, const std::string& acc) {
  Names names = {acc};
  for_each<SoftmaxSum>(body, [&](const SoftmaxSum& step) {
    Names parts = step.sums;
    parts.push_back(step.maximum);
    if (std::ranges::count(parts, acc) > 0) names.insert(names.end(), parts.begin(), parts.end());
  });
  return names;
}

void collect(const Body& body, std::vector<AccumulatorStart>& starts) {
  for (const Stmt& stmt : body) {
    if (const Body* inner = inner_body(stmt)) collect(*inner, starts);
    const auto add = [&](const std::string& acc, Op op) {
      if (std::ranges::find(starts, acc, &AccumulatorStart::acc) == starts.end())
        starts.push_back({nullptr, 0, acc, op});
    };
    if (const auto* accum = stmt.as<Accum>()) add(accum->dst, accum->op == Op::fma ? Op::add : accum->op);
    if (const auto* scale = stmt.as<Scale>()) add(scale->acc, Op::add);
    if (const auto* step = stmt.as<SoftmaxSum>()) {
      add(step->maximum, Op::maximum);
      for (const std::string& sum : step->sums) add(sum, Op::add);
    }
  }
}

// Checks whether the body updates one of the accumulators, directly or under conditions.
bool updates(const Body& body, const Names& accumulators) {
  return std::ranges::any_of(body, [&](const Stmt& stmt) {
    if (const auto* guarded = stmt.as<If>()) return updates(guarded->then, accumulators);
    bool found = false;
    if (inner_body(stmt) == nullptr)
      for_each_name(stmt, [&](Use use, const std::string& name) {
        found |= use == Use::defines && std::ranges::count(accumulators, name) > 0;
      });
    return found;
  });
}

// Does the statement keep the accumulators from one iteration to the next?
bool carries(const Stmt& stmt, const Names& accumulators) {
  const auto* loop = stmt.as<Loop>();
  return loop != nullptr && loop->axis.bind == Bind::scan && updates(loop->body, accumulators);
}

// Sets `start` to the innermost body that holds all uses, outside of a scan that carries the accumulators, and to the
// first statement of that body that uses them.
void place(const Body& body, const Names& accumulators, AccumulatorStart& start) {
  const auto uses_it = [&](const Stmt& s) { return uses(s, accumulators); };
  const auto first = std::find_if(body.begin(), body.end(), uses_it);
  const Body* inner = inner_body(*first);
  const bool may_be_inside = inner != nullptr && !carries(*first, accumulators);
  if (may_be_inside && std::none_of(first + 1, body.end(), uses_it)) return place(*inner, accumulators, start);
  start.body = &body;
  start.index = static_cast<std::size_t>(first - body.begin());
}

}  // namespace

std::vector<AccumulatorStart> accumulator_starts(const Body& body) {
  std::vector<AccumulatorStart> starts;
  collect(body, starts);
  for (AccumulatorStart& start : starts) place(body, together(body, start.acc), start);
  return starts;
}

}  // namespace deplo::ir
