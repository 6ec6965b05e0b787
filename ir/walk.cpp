#include "ir/walk.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace deplo::ir {
namespace {

template <class B, class S>
B* body_of(S& stmt) {
  B* found = nullptr;
  for_each_part(stmt, cases{[](const Expr&) {}, [](Use, const std::string&) {}, [](const Axis&) {},
                            [&](B& body) { found = &body; }});
  return found;
}

// The range of an axis that the statement opens.
Interval range_of(const Stmt& stmt, const Axis& axis) {
  const auto* loop = stmt.as<Loop>();
  return loop != nullptr ? range_of(*loop) : Interval{0, axis.extent - 1};
}

void map_statement(Stmt& stmt, Ranges& scope, const MapExpr& f) {
  const std::size_t outer = scope.size();
  if (const auto* index = stmt.as<Index>()) scope.emplace_back(lane_variable, Interval{0, index->type.lanes - 1});
  if (const auto* load = stmt.as<Load>()) scope.emplace_back(lane_variable, Interval{0, load->type.lanes - 1});
  if (const auto* write = stmt.as<Write>()) scope.emplace_back(lane_variable, Interval{0, write->lanes - 1});
  for_each_part(stmt, cases{[&](Expr& e) { e = f(e, scope); }, [](Use, const std::string&) {},
                            [&](const Axis& axis) { scope.emplace_back(axis.name, range_of(stmt, axis)); },
                            [&](Body& body) { map_expressions(body, scope, f); }});
  scope.resize(outer);
}

// Returns n for the name "an", such as 5 for "a5", and -1 for other names.
int axis_number(const std::string& name) {
  int number = 0;
  const char* end = name.data() + name.size();
  const bool numbered = name.size() > 1 && name[0] == 'a' && std::from_chars(name.data() + 1, end, number).ptr == end;
  return numbered ? number : -1;
}

// Names the axes a0, a1, … in order. Sibling loops may share a name: each is renamed in its own body.
class Renumbering {
 public:
  explicit Renumbering(const Program& program) {
    for_each_new_name(
        program, [&](const std::string& name) { taken_.push_back(axis_number(name)); }, [](const std::string&) {});
  }

  void body(Body& statements) {
    for (Stmt& stmt : statements) statement(stmt);
  }

 private:
  void statement(Stmt& stmt) {
    const std::size_t outer = names_.size();
    for_each_part(stmt, cases{[&](Expr& e) { e = names_.empty() ? e : substitute(e, names_); },
                              [&](Use use, std::string& name) { rename(use, name); }, [&](Axis& axis) { bind(axis); },
                              [&](Body& inside) { body(inside); }});
    names_.resize(outer);
  }

  void rename(Use use, std::string& name) const {
    const auto found = std::ranges::find(names_, name, &Substitution::value_type::first);
    if (use == Use::axis && found != names_.end()) name = found->second.name();
  }

  void bind(Axis& axis) {
    while (std::find(taken_.begin(), taken_.end(), next_) != taken_.end()) ++next_;
    std::string fresh = "a" + std::to_string(next_++);
    if (fresh != axis.name) names_.emplace_back(std::move(axis.name), var(fresh));
    axis.name = std::move(fresh);
  }

  Substitution names_;
  std::vector<int> taken_;
  int next_ = 0;
};

}  // namespace

const Body* inner_body(const Stmt& stmt) { return body_of<const Body>(stmt); }
Body* inner_body(Stmt& stmt) { return body_of<Body>(stmt); }

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
  for_each_new_name(program, see, see);
  return "a" + std::to_string(next);
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
  const std::string* found = &none;
  for_each_name(stmt, [&](Use use, const std::string& name) {
    if (use == Use::defines) found = &name;
  });
  return *found;
}

bool names_value(const Body& body, const std::vector<Expr>& index) {
  const std::vector<std::string> names = variables(index);
  bool found = false;
  const auto see = [&](Use use, const std::string& name) {
    found = found || (use == Use::defines && std::ranges::find(names, name) != names.end());
  };
  if (!names.empty()) for_each(body, [&](const Stmt& stmt) { for_each_name(stmt, see); });
  return found;
}

const Stage* find_stage(const Body& body, std::string_view buffer) {
  const Stage* found = nullptr;
  for_each(body, [&](const Stmt& stmt) {
    if (const auto* stage = stmt.as<Stage>(); found == nullptr && stage != nullptr && stage->buffer == buffer)
      found = stage;
  });
  return found;
}

bool reads_apart(const Load& load) { return load.type.lanes > 1 && depends_on(load.index, lane_variable); }
bool writes_apart(const Write& write) { return write.lanes > 1 && depends_on(write.index, lane_variable); }

std::vector<Expr> in_lane(const std::vector<Expr>& index, int lane) {
  std::vector<Expr> result;
  for (const Expr& e : index) result.push_back(substitute(e, {{lane_variable, Expr(lane)}}));
  return result;
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
  for_each<Tile>(body, [&](const Tile& tile) { count *= count_of(tile, bind); });
  return count;
}

std::size_t stage_run(const Body& body, std::size_t i) {
  std::size_t end = i;
  const auto repeats = [&](const Stage& stage) {
    return std::any_of(body.begin() + static_cast<std::ptrdiff_t>(i), body.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Stmt& s) { return s.as<Stage>()->buffer == stage.buffer; });
  };
  const auto belongs = [&](const Stage* stage) {
    return stage != nullptr && stage->when == body[i].as<Stage>()->when && !repeats(*stage);
  };
  while (end < body.size() && belongs(body[end].as<Stage>())) ++end;
  return end - i;
}

Interval range_of(const Loop& loop) {
  const bool constant = loop.start.kind() == Expr::Kind::constant;
  const std::int64_t low = constant ? loop.start.value() : 0;
  // Every value of the variable is a multiple of the greatest common divisor of start and step.
  const std::int64_t grid = std::max<std::int64_t>(1, std::gcd(known_divisor(loop.start), loop.step));
  return {low, std::max(low, (loop.axis.extent - 1) / grid * grid)};
}

void open_axes(const Stmt& stmt, Ranges& ranges) {
  if (const auto* tile = stmt.as<Tile>())
    for (const Axis& axis : tile->axes) ranges.emplace_back(axis.name, Interval{0, axis.extent - 1});
  if (const auto* loop = stmt.as<Loop>()) ranges.emplace_back(loop->axis.name, range_of(*loop));
}

}  // namespace deplo::ir
