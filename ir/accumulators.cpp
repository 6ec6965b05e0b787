#include "ir/accumulators.h"

#include <algorithm>

#include "ir/walk.h"

namespace deplo::ir {
namespace {

bool uses(const Stmt& stmt, const std::string& acc) {
  if (const Body* body = inner_body(stmt))
    return std::any_of(body->begin(), body->end(), [&](const Stmt& s) { return uses(s, acc); });
  bool found = false;
  for_each_name(stmt, [&](Use use, const std::string& name) {
    found |= (use == Use::value || use == Use::defines) && name == acc;
  });
  return found;
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

// The innermost body that holds all uses, and the statement of it that holds the first.
void place(const Body& body, AccumulatorStart& start) {
  const auto uses_it = [&](const Stmt& s) { return uses(s, start.acc); };
  const auto first = std::find_if(body.begin(), body.end(), uses_it);
  const Body* inner = inner_body(*first);
  if (inner != nullptr && std::none_of(first + 1, body.end(), uses_it)) return place(*inner, start);
  start.body = &body;
  start.index = static_cast<std::size_t>(first - body.begin());
}

}  // namespace

std::vector<AccumulatorStart> accumulator_starts(const Body& body) {
  std::vector<AccumulatorStart> starts;
  collect(body, starts);
  for (AccumulatorStart& start : starts) place(body, start);
  return starts;
}

}  // namespace deplo::ir
