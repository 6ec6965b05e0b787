#include "ir/accumulators.h"

#include <algorithm>

namespace deplo::ir {
namespace {

bool names(const std::vector<Arg>& args, const std::string& name) {
  return std::any_of(args.begin(), args.end(), [&](const Arg& arg) {
    const auto* value = std::get_if<std::string>(&arg);
    return value != nullptr && *value == name;
  });
}

bool uses(const Stmt& stmt, const std::string& acc) {
  if (const Body* body = inner_body(stmt))
    return std::any_of(body->begin(), body->end(), [&](const Stmt& s) { return uses(s, acc); });
  if (const auto* s = stmt.as<Accum>()) return s->dst == acc || names(s->args, acc);
  if (const auto* s = stmt.as<Assign>()) return names(s->args, acc);
  if (const auto* s = stmt.as<Write>()) return names({s->value}, acc);
  const auto* s = stmt.as<Combine>();
  return s != nullptr && s->acc == acc;
}

void collect(const Body& body, std::vector<AccumulatorStart>& starts) {
  for (const Stmt& stmt : body) {
    if (const Body* inner = inner_body(stmt)) collect(*inner, starts);
    const auto* accum = stmt.as<Accum>();
    if (accum == nullptr) continue;
    const auto known = [&](const AccumulatorStart& s) { return s.acc == accum->dst; };
    if (std::none_of(starts.begin(), starts.end(), known))
      starts.push_back({nullptr, 0, accum->dst, accum->op == Op::fma ? Op::add : accum->op});
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

const Body* inner_body(const Stmt& stmt) {
  if (const auto* s = stmt.as<Loop>()) return &s->body;
  if (const auto* s = stmt.as<If>()) return &s->then;
  if (const auto* s = stmt.as<Tile>()) return &s->body;
  return nullptr;
}

std::vector<AccumulatorStart> accumulator_starts(const Body& body) {
  std::vector<AccumulatorStart> starts;
  collect(body, starts);
  for (AccumulatorStart& start : starts) place(body, start);
  return starts;
}

}  // namespace deplo::ir
