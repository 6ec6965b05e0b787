#include "ir/walk.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "core/text/match.h"

namespace deplo::ir {
namespace {

void map_all(std::vector<Expr>& exprs, const Ranges& scope, const MapExpr& f) {
  for (Expr& e : exprs) e = f(e, scope);
}

// The expressions of a statement that holds no others.
void map_leaf(Stmt& stmt, Ranges& scope, const MapExpr& f) {
  match(
      stmt.node, [&](Load& s) { map_all(s.index, scope, f); }, [&](Write& s) { map_all(s.index, scope, f); },
      [&](Prefetch& s) { map_all(s.index, scope, f); },
      [&](Index& s) {
        scope.emplace_back(lane_variable, Interval{0, s.type.lanes - 1});
        s.value = f(s.value, scope);
        scope.pop_back();
      },
      [&](Stage& s) {
        map_all(s.origin, scope, f);
        s.slot = f(s.slot, scope);
      },
      [&](AsyncWait& s) {
        s.phase = f(s.phase, scope);
        s.slot = f(s.slot, scope);
      },
      [&](TreeHalve& s) {
        map_all(s.prefix, scope, f);
        s.tid = f(s.tid, scope);
      },
      [&](CpAsyncCopy& s) {
        map_all(s.index, scope, f);
        map_all(s.at, scope, f);
      },
      [&](MbarrierArriveExpectTx& s) { s.slot = f(s.slot, scope); },
      [&](MbarrierWait& s) {
        s.slot = f(s.slot, scope);
        s.phase = f(s.phase, scope);
      },
      [&](TmaLoad& s) {
        map_all(s.index, scope, f);
        map_all(s.coordinates, scope, f);
        s.slot = f(s.slot, scope);
      },
      [](auto&) {});
}

void map_statement(Stmt& stmt, Ranges& scope, const MapExpr& f) {
  if (auto* loop = stmt.as<Loop>()) {
    loop->start = f(loop->start, scope);
    scope.emplace_back(loop->axis.name, range_of(*loop));
    map_expressions(loop->body, scope, f);
    scope.pop_back();
  } else if (auto* branch = stmt.as<If>()) {
    branch->condition = f(branch->condition, scope);
    map_expressions(branch->then, scope, f);
  } else if (auto* tile = stmt.as<Tile>()) {
    for (const Axis& axis : tile->axes) scope.emplace_back(axis.name, Interval{0, axis.extent - 1});
    map_expressions(tile->body, scope, f);
    scope.resize(scope.size() - tile->axes.size());
  } else {
    map_leaf(stmt, scope, f);
  }
}

// Calls f for every name that no axis may take: buffers and values.
template <class F>
void for_each_other_name(const Program& program, const F& f) {
  for (const Buffer& b : program.buffers) f(b.name);
  for_each(program.body, [&](const Stmt& stmt) {
    if (const auto* s = stmt.as<Stage>()) f(s->buffer);
    if (const auto* s = stmt.as<Smem>()) f(s->buffer);
    if (const auto* s = stmt.as<Init>()) f(s->acc);
    if (const auto* s = stmt.as<MbarrierInit>()) f(s->barrier);
    if (const auto* s = stmt.as<TmaDescriptor>()) f(s->name);
    if (const std::string& name = defined(stmt); !name.empty()) f(name);
  });
}

// n of "an"; -1 for other names.
int axis_number(const std::string& name) {
  int number = 0;
  const char* end = name.data() + name.size();
  const bool numbered = name.size() > 1 && name[0] == 'a' && std::from_chars(name.data() + 1, end, number).ptr == end;
  return numbered ? number : -1;
}

// Sibling loops may share a name: each is renamed in its own body.
class Renumbering {
 public:
  explicit Renumbering(const Program& program) {
    for_each_other_name(program, [&](const std::string& name) { taken_.push_back(axis_number(name)); });
  }

  void body(Body& statements) {
    for (Stmt& stmt : statements) statement(stmt);
  }

 private:
  void statement(Stmt& stmt) {
    const std::size_t outer = names_.size();
    if (auto* loop = stmt.as<Loop>()) {
      loop->start = rename(loop->start);
      if (!loop->per.empty()) loop->per = rename(var(loop->per)).name();
      bind(loop->axis);
    } else if (auto* branch = stmt.as<If>()) {
      branch->condition = rename(branch->condition);
    } else if (auto* tile = stmt.as<Tile>()) {
      for (Axis& axis : tile->axes) bind(axis);
    } else if (auto* combine = stmt.as<Combine>()) {
      for (std::string& name : combine->over) name = rename(var(name)).name();
    } else {
      map_leaf(stmt, no_ranges_, [&](const Expr& e, const Ranges&) { return rename(e); });
    }
    if (Body* inner = inner_body(stmt)) body(*inner);
    names_.resize(outer);
  }

  void bind(Axis& axis) {
    while (std::find(taken_.begin(), taken_.end(), next_) != taken_.end()) ++next_;
    std::string fresh = "a" + std::to_string(next_++);
    if (fresh != axis.name) names_.emplace_back(std::move(axis.name), var(fresh));
    axis.name = std::move(fresh);
  }
  Expr rename(const Expr& e) const { return names_.empty() ? e : substitute(e, names_); }

  Substitution names_;
  Ranges no_ranges_;
  std::vector<int> taken_;
  int next_ = 0;
};

}  // namespace

Body* inner_body(Stmt& stmt) { return const_cast<Body*>(inner_body(std::as_const(stmt))); }

void map_expressions(Body& body, Ranges& scope, const MapExpr& f) {
  for (Stmt& stmt : body) map_statement(stmt, scope, f);
}

void substitute_axes(Program& program, const Substitution& substitution) {
  Ranges scope;
  map_expressions(program.body, scope, [&](const Expr& e, const Ranges& ranges) {
    const bool changes = std::any_of(substitution.begin(), substitution.end(),
                                     [&](const auto& entry) { return depends_on(e, entry.first); });
    return changes ? simplify(substitute(e, substitution), ranges) : e;
  });
}

void renumber_axes(Program& program) { Renumbering(program).body(program.body); }

std::string fresh_axis(const Program& program) {
  int next = 0;
  const auto see = [&](const std::string& name) { next = std::max(next, axis_number(name) + 1); };
  for_each_other_name(program, see);
  for_each(program.body, [&](const Stmt& stmt) {
    if (const auto* tile = stmt.as<Tile>())
      for (const Axis& axis : tile->axes) see(axis.name);
    if (const auto* loop = stmt.as<Loop>()) see(loop->axis.name);
  });
  return "a" + std::to_string(next);
}

void visit_reads(const Stmt& stmt, const std::function<void(const Expr&)>& expr,
                 const std::function<void(const std::string&)>& value) {
  const auto exprs = [&](const std::vector<Expr>& list) {
    for (const Expr& e : list) expr(e);
  };
  const auto arg = [&](const Arg& a) {
    if (const auto* name = std::get_if<std::string>(&a)) value(*name);
  };
  const auto args = [&](const std::vector<Arg>& list) {
    for (const Arg& a : list) arg(a);
  };
  const auto all = [&](const auto&... e) { (expr(e), ...); };
  match(
      stmt.node, [&](const Load& s) { exprs(s.index); }, [&](const Index& s) { expr(s.value); },
      [&](const Assign& s) { args(s.args); }, [&](const Accum& s) { args(s.args); },
      [&](const Write& s) { exprs(s.index), arg(s.value); }, [&](const Prefetch& s) { exprs(s.index); },
      [&](const If& s) { expr(s.condition); }, [&](const Loop& s) { expr(s.start); },
      [&](const Stage& s) { exprs(s.origin), expr(s.slot); }, [&](const AsyncWait& s) { all(s.phase, s.slot); },
      [&](const Combine& s) { value(s.acc); }, [&](const TreeHalve& s) { exprs(s.prefix), expr(s.tid); },
      [&](const WarpShuffle& s) { value(s.value); }, [&](const CpAsyncCopy& s) { exprs(s.index), exprs(s.at); },
      [&](const MbarrierArriveExpectTx& s) { expr(s.slot); }, [&](const MbarrierWait& s) { all(s.slot, s.phase); },
      [&](const TmaLoad& s) { exprs(s.index), exprs(s.coordinates), expr(s.slot); }, [](const auto&) {});
}

Reads reads(const Stmt& stmt) {
  Reads result;
  visit_reads(
      stmt,
      [&](const Expr& e) {
        collect_variables(e, result.axes);
        collect_variables(e, result.values);
      },
      [&](const std::string& name) { result.values.push_back(name); });
  return result;
}

const std::string& defined(const Stmt& stmt) {
  static const std::string none;
  if (const auto* s = stmt.as<Load>()) return s->dst;
  if (const auto* s = stmt.as<Index>()) return s->dst;
  if (const auto* s = stmt.as<Assign>()) return s->dst;
  if (const auto* s = stmt.as<Accum>()) return s->dst;
  if (const auto* s = stmt.as<WarpShuffle>()) return s->dst;
  return none;
}

Expr flat_offset(const std::vector<Expr>& index, const std::vector<std::int64_t>& strides, const Ranges& ranges) {
  Expr offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset = std::move(offset) + index[d] * strides[d];
  return simplify(offset, ranges);
}

std::int64_t count_of(const Tile& tile, Bind bind) {
  std::int64_t count = 1;
  for (const Axis& axis : tile.axes)
    if (axis.bind == bind) count *= axis.extent;
  return count;
}

std::int64_t count_of(const Body& body, Bind bind) {
  std::int64_t count = 1;
  for_each(body, [&](const Stmt& stmt) {
    if (const auto* tile = stmt.as<Tile>()) count *= count_of(*tile, bind);
  });
  return count;
}

std::size_t stage_run(const Body& body, std::size_t i) {
  std::size_t end = i;
  const auto repeats = [&](const Stage& stage) {
    return std::any_of(body.begin() + static_cast<std::ptrdiff_t>(i), body.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Stmt& s) { return s.as<Stage>()->buffer == stage.buffer; });
  };
  while (end < body.size() && body[end].as<Stage>() != nullptr && !repeats(*body[end].as<Stage>())) ++end;
  return end - i;
}

Interval range_of(const Loop& loop) {
  const bool constant = loop.start.kind() == Expr::Kind::constant;
  const std::int64_t low = constant ? loop.start.value() : 0;
  // Every value is a multiple of what divides both start and step.
  const std::int64_t grid = std::max<std::int64_t>(1, std::gcd(known_divisor(loop.start), loop.step));
  return {low, std::max(low, (loop.axis.extent - 1) / grid * grid)};
}

}  // namespace deplo::ir
