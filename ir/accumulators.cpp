#include "ir/accumulators.h"

#include <algorithm>
#include <map>

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

using Together = std::map<std::string, std::vector<std::string>>;  // a maximum and its sums

void collect(const Body& body, std::vector<AccumulatorStart>& starts, Together& together) {
  for (const Stmt& stmt : body) {
    if (const Body* inner = inner_body(stmt)) collect(*inner, starts, together);
    const auto add = [&](const std::string& acc, Op op) {
      if (std::ranges::find(starts, acc, &AccumulatorStart::acc) == starts.end())
        starts.push_back({nullptr, 0, acc, op});
    };
    if (const auto* accum = stmt.as<Accum>()) add(accum->dst, accum->op == Op::fma ? Op::add : accum->op);
    if (const auto* scale = stmt.as<Scale>()) add(scale->acc, Op::add);
    if (const auto* step = stmt.as<SoftmaxSum>()) {
      add(step->maximum, Op::maximum);
      for (const std::string& sum : step->sums) add(sum, Op::add);
      together[step->maximum] = step->sums;
    }
  }
}

// The innermost body that holds all uses, of the sums of a maximum as well, and the statement of it that holds the first.
void place(const Body& body, AccumulatorStart& start, const std::vector<std::string>& sums) {
  const auto uses_it = [&](const Stmt& s) {
    return uses(s, start.acc) || std::ranges::any_of(sums, [&](const std::string& sum) { return uses(s, sum); });
  };
  const auto first = std::find_if(body.begin(), body.end(), uses_it);
  const Body* inner = inner_body(*first);
  if (inner != nullptr && std::none_of(first + 1, body.end(), uses_it)) return place(*inner, start, sums);
  start.body = &body;
  start.index = static_cast<std::size_t>(first - body.begin());
}

}  // namespace

std::vector<AccumulatorStart> accumulator_starts(const Body& body) {
  std::vector<AccumulatorStart> starts;
  Together together;
  collect(body, starts, together);
  for (AccumulatorStart& start : starts) place(body, start, together[start.acc]);
  return starts;
}

}  // namespace deplo::ir
