#include "rules/blocks/plan.h"

#include <algorithm>
#include <utility>

#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {

using tp::Operation;
using tp::Region;
using tp::Type;
using tp::ValueId;

bool is_scalar(const Type& t) { return t.is_tile() && tp::element_count(t) == 1; }

Plan::Plan(const tp::Entry& entry, const Kept& chosen, const std::set<ValueId>& shared)
    : entry_(entry), facts_(entry.values.size()) {
  define(entry.body);
  decide(entry.body, chosen);
  trace(entry.body);
  for (const ValueId id : shared) facts_[id].crosses = true;
  join(entry.body);
}

void Plan::define(const Region& region) {
  for (const ValueId id : region.arguments) facts_[id].region = &region;
  for (const Operation& op : region.operations) {
    for (const ValueId id : op.results) {
      facts_[id].definition = &op;
      facts_[id].region = &region;
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      Facts& of = facts_[op.operands[i]];
      ++of.uses;
      of.used_inside |= of.region != &region;
      const Reads how = reads(op, i, entry_);
      of.used_moved |= how != Reads::own;
      of.used_repeated |= how == Reads::repeated;
      of.carried |= op.form->terminator;
      of.multiplied |= how == Reads::repeated && op.form->name.starts_with("mma");
    }
    for (const Region& inner : op.regions) define(inner);
  }
}

bool Plan::only_moves(ValueId id) const {
  const Facts& of = facts_[id];
  if (of.kept || of.definition == nullptr || is_scalar(type(id)) || of.definition->operands.empty()) return true;
  const Row& made = row(*of.definition->form);
  if (made.element == nullptr) return true;
  const bool moves = made.cheap && (made.reads != Reads::own || of.definition->form->name == "reshape");
  return moves && only_moves(of.definition->operands[0]);
}

bool Plan::is_cheap(const Operation& op) const {
  const Row& made = row(*op.form);
  return made.element == nullptr || is_scalar(type(op.results[0])) ||
         (made.cheap && std::all_of(op.operands.begin(), op.operands.end(),
                                    [&](ValueId operand) { return facts_[operand].cheap || facts_[operand].kept; }));
}

/// Returns true if one element takes too many operations where it is used. Each operation that moves elements may need
/// another element of the same operand: the operations of a sorting network would double with each step.
bool Plan::is_costly(ValueId id) const {
  constexpr std::size_t max_operations = 64;
  // A value, and the operations that moved its element. Each such element is computed once.
  using Moved = std::pair<ValueId, std::vector<const Operation*>>;
  std::set<Moved> computed;
  std::vector<Moved> open = {{id, {}}};
  while (!open.empty() && computed.size() <= max_operations) {
    Moved at = std::move(open.back());
    open.pop_back();
    const Facts& of = facts_[at.first];
    if (of.kept || of.definition == nullptr || is_scalar(type(at.first)) ||
        row(*of.definition->form).element == nullptr)
      continue;
    if (!computed.insert(at).second) continue;
    if (row(*of.definition->form).reads != Reads::own) at.second.push_back(of.definition);
    for (const ValueId operand : of.definition->operands) open.emplace_back(operand, at.second);
  }
  return computed.size() > max_operations;
}

/// Operands come before their uses, so it is already decided whether they are cheap and kept.
void Plan::decide(const Region& region, const Kept& chosen) {
  for (const ValueId id : region.arguments) facts_[id].kept = true;
  for (const Operation& op : region.operations) {
    for (const ValueId id : op.results) {
      Facts& of = facts_[id];
      const auto choice = chosen.find(id);
      const bool repeats = of.uses > 1 || of.used_inside || of.used_repeated;
      of.cheap = is_cheap(op);
      of.costly = repeats && is_costly(id);
      // A value that a jump carries is copied into memory that other reads may still need, so it must be kept.
      of.kept = row(*op.form).element == nullptr || of.carried || of.costly || (of.multiplied && !only_moves(id)) ||
                (choice != chosen.end() ? choice->second : repeats && !of.cheap);
    }
    for (const Region& inner : op.regions) decide(inner, chosen);
  }
}

bool Plan::may_choose(ValueId id) const {
  const Facts& of = facts_[id];
  if (of.definition == nullptr || of.uses == 0 || !type(id).is_tile() || is_scalar(type(id))) return false;
  const Row& made = row(*of.definition->form);
  if (made.element == nullptr || of.carried || of.costly || (of.multiplied && !only_moves(id))) return false;
  if (of.definition->operands.empty()) return false;  // a constant or a counter
  // It would be computed again for each of many elements.
  if (of.used_repeated && !of.multiplied && of.kept) return false;
  return of.uses > 1 || of.used_inside || of.used_moved;
}

std::vector<ValueId> Plan::open() const {
  std::vector<ValueId> values;
  for (ValueId id = 0; id < facts_.size(); ++id)
    if (may_choose(id)) values.push_back(id);
  return values;
}

void Plan::read(ValueId id, Reads how) {
  Facts& of = facts_[id];
  if (!type(id).is_tile() || is_scalar(type(id))) return;
  if (std::exchange(how == Reads::own ? of.own_read : of.moved_read, true)) return;
  if (of.kept || of.definition == nullptr) {
    of.crosses |= how != Reads::own;
    return;
  }
  const Reads inner = row(*of.definition->form).reads;
  for (const ValueId operand : of.definition->operands) read(operand, how == Reads::own ? inner : Reads::moved);
}

void Plan::trace(const Region& region) {
  tp::for_each_operation(region, [&](const Operation& op) {
    const bool is_done = row(*op.form).element == nullptr;
    // A value that is computed where it is used reads its operands there. A kept value or a one-element value reads
    // them here.
    const bool is_here = is_done || facts_[op.results[0]].kept || is_scalar(type(op.results[0]));
    for (std::size_t i = 0; i < op.operands.size() && is_here; ++i)
      read(op.operands[i], is_done ? reads(op, i, entry_) : row(*op.form).reads);
    if (op.form->name == "scan")
      for (const ValueId id : op.results) facts_[id].crosses = true;  // one thread scans a whole row
  });
}

/// The results of a for loop are in the memory of its loop-carried values.
void Plan::join(const Region& region) {
  for (const Operation& op : region.operations) {
    for (const Region& inner : op.regions) join(inner);
    if (op.form->name != "for") continue;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      Facts &carried = facts_[op.regions[0].arguments[i + 1]], &result = facts_[op.results[i]];
      carried.crosses = result.crosses = carried.crosses || result.crosses;
    }
  }
}

bool Plan::communicates(const Region& region) const {
  const auto one_passes = [&](const std::vector<ValueId>& values) {
    return std::any_of(values.begin(), values.end(), [&](ValueId id) {
      return facts_[id].kept && facts_[id].crosses && type(id).is_tile() && !is_scalar(type(id));
    });
  };
  const auto waits = [&](const Operation& op) {
    return one_passes(op.results) || op.form->name == "reduce" || op.form->name == "scan" ||
           op.form->name.ends_with("_tko") ||
           std::any_of(op.regions.begin(), op.regions.end(), [&](const Region& r) { return communicates(r); });
  };
  return one_passes(region.arguments) || std::any_of(region.operations.begin(), region.operations.end(), waits);
}

}  // namespace deplo::rules::blocks
