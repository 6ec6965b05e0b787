#include "rules/analysis/names.h"

#include <algorithm>

#include "core/text/match.h"

namespace deplo::rules {
namespace {

using Names = std::set<std::string, std::less<>>;

bool reads_one_of(const ir::Stmt& stmt, const Names& names) {
  bool found = false;
  ir::for_each_read(stmt, [&](const std::string& name) { found |= names.contains(name); });
  return found;
}

// `around`: whether the statement that holds the body depends on the axis. If so, all names defined in the body do.
bool spread(const ir::Body& body, bool around, const Names& except, Names& names) {
  bool grown = false;
  for (const ir::Stmt& stmt : body) {
    const ir::Body* const inner = ir::inner_body(stmt);
    const std::string& name = ir::defined(stmt);
    const bool may_add = !name.empty() && !names.contains(name) && !except.contains(name);
    if (inner == nullptr && !may_add) continue;
    const bool on = around || reads_one_of(stmt, names);
    if (const auto* loop = stmt.as<ir::Loop>(); loop != nullptr && on) grown |= names.insert(loop->axis.name).second;
    if (on && may_add) grown |= names.insert(name).second;
    if (inner != nullptr) grown |= spread(*inner, on, except, names);
  }
  return grown;
}

}  // namespace

Names dependent_names(const ir::Body& body, const std::string& axis, const Names& except) {
  Names names = {axis};
  // Repeat until nothing changes: an accumulator may be read before the statement that makes it depend on the axis.
  while (spread(body, false, except, names)) {
  }
  return names;
}

bool depends(const ir::Stmt& stmt, const Names& names) {
  if (reads_one_of(stmt, names)) return true;
  const ir::Body* inner = ir::inner_body(stmt);
  return inner != nullptr &&
         std::any_of(inner->begin(), inner->end(), [&](const ir::Stmt& s) { return depends(s, names); });
}

void rename(ir::Body& body, const NewNames& names) {
  ir::Substitution values;
  for (const auto& [before, after] : names) values.emplace_back(before, ir::var(after));
  ir::for_each(body, [&](ir::Stmt& stmt) {
    ir::for_each_part(stmt, cases{[&](ir::Expr& e) { e = ir::substitute(e, values); },
                                  [&](ir::Use use, std::string& name) {
                                    const auto found = names.find(name);
                                    const bool value = use == ir::Use::value || use == ir::Use::defines;
                                    if (value && found != names.end()) name = found->second;
                                  },
                                  [](const ir::Axis&) {}, [](const ir::Body&) {}});
  });
}

Names names_of(const ir::Program& program) {
  Names names;
  const auto take = [&](const std::string& name) { names.insert(name); };
  ir::for_each_new_name(program, take, take);
  return names;
}

std::string fresh_name(Names& names, const std::string& stem, int n) {
  for (;; ++n)
    if (std::string name = stem + std::to_string(n); names.insert(name).second) return name;
}

std::string slab_name(Names& names, const std::string& source) {
  std::string name = source + "_smem";
  return names.insert(name).second ? name : fresh_name(names, name, 1);
}

namespace {

void collect_divisors(const ir::Expr& e, const std::string& axis, std::set<std::int64_t>& divisors) {
  if (e.kind() != ir::Expr::Kind::binary) return;
  const bool parts = e.op() == ir::ExprOp::div || e.op() == ir::ExprOp::mod;
  if (parts && e.rhs().kind() == ir::Expr::Kind::constant && ir::depends_on(e.lhs(), axis))
    divisors.insert(e.rhs().value());
  collect_divisors(e.lhs(), axis, divisors);
  collect_divisors(e.rhs(), axis, divisors);
}

}  // namespace

std::set<std::int64_t> divisors_of(const ir::Body& body, const std::string& axis) {
  std::set<std::int64_t> divisors;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    ir::visit_reads(
        stmt, [&](const ir::Expr& e) { collect_divisors(e, axis, divisors); }, [](const std::string&) {});
  });
  return divisors;
}

std::int64_t turns_of_element(const ir::Load& load, const std::string& axis) {
  const std::set<std::int64_t> divisors = divisors_of({load}, axis);
  for (auto divisor = divisors.rbegin(); divisor != divisors.rend(); ++divisor) {
    const std::string turn = "turn of " + axis;  // no axis or value has this name
    const ir::Ranges turns = {{turn, ir::Interval{0, *divisor - 1}}};
    const auto changes = [&](const ir::Expr& e) {
      return ir::depends_on(ir::simplify(ir::substitute(e, {{axis, ir::var(axis) * *divisor + ir::var(turn)}}), turns),
                            turn);
    };
    if (*divisor > 1 && std::ranges::none_of(load.index, changes)) return *divisor;
  }
  return 1;
}

}  // namespace deplo::rules
