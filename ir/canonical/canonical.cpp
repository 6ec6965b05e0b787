#include "ir/canonical/canonical.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/hash.h"
#include "ir/canonical/order.h"
#include "ir/simplify/simplify_impl.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

/// Drops dimensions of extent 1 and free loops with one iteration, because neither affects what is computed: reading x:
/// f32[1, 32, 2048] at [0, i, j] is reading x: f32[32, 2048] at [i, j].
class UnitAxes {
 public:
  void drop(Program& program) {
    for (Buffer& buffer : program.buffers) {
      std::vector<bool>& unit = unit_[buffer.name];
      for (const std::int64_t extent : buffer.shape) unit.push_back(extent == 1);
      if (std::ranges::count(unit, false) == 0 && !unit.empty()) unit.front() = false;  // keep one dimension
      erase(buffer.shape, unit);
      erase(buffer.strides, unit);
      if (element_count(buffer) == 1) buffer.strides.assign(buffer.strides.size(), 1);  // its index is always 0
    }
    dimensions(program.body);
    loops(program.body);
    if (!zeros_.empty()) {
      Ranges none;
      map_expressions(program.body, none, [&](const Expr& e, const Ranges& ranges) {
        Expr replaced = substitute(e, zeros_);
        return replaced.same(e) ? e : simplify(replaced, ranges);
      });
    }
  }

 private:
  template <class T>
  static void erase(std::vector<T>& list, const std::vector<bool>& gone) {
    std::size_t i = 0;
    std::erase_if(list, [&](const T&) { return gone[i++]; });
  }
  void dimensions(Body& statements) {
    for_each(statements, [&](Stmt& stmt) {
      if (auto* load = stmt.as<Load>()) erase(load->index, unit_.at(load->buffer));
      if (auto* write = stmt.as<Write>()) erase(write->index, unit_.at(write->buffer));
    });
  }
  void loops(Body& statements) {
    Body kept;
    for (Stmt& stmt : statements) {
      if (Body* inner = inner_body(stmt)) loops(*inner);
      auto* loop = stmt.as<Loop>();
      const bool once = loop != nullptr && loop->axis.bind == Bind::free && loop->axis.extent == 1 &&
                        loop->start.is_constant(0) && loop->step == 1;
      if (!once) {
        kept.push_back(std::move(stmt));
        continue;
      }
      zeros_.emplace_back(loop->axis.name, Expr(0));
      std::ranges::move(loop->body, std::back_inserter(kept));
    }
    statements = std::move(kept);
  }

  std::map<std::string, std::vector<bool>, std::less<>> unit_;
  Substitution zeros_;
};

void collect_operands(const Expr& e, ExprOp op, std::vector<std::pair<std::string, Expr>>& operands);

// Returns the expression with the operands of commutative operations sorted by their texts, constants last.
Expr sorted(const Expr& e) {
  if (e.kind() != Expr::Kind::binary) return e;
  const ExprOp op = e.op();
  const bool ordered = op == ExprOp::sub || op == ExprOp::div || op == ExprOp::mod || op == ExprOp::lt;
  if (ordered) return rebuild(e, sorted(e.lhs()), sorted(e.rhs()));
  std::vector<std::pair<std::string, Expr>> operands;
  collect_operands(e, op, operands);
  std::ranges::stable_sort(operands, {}, [](const auto& operand) -> const std::string& { return operand.first; });
  Expr result = operands.front().second;
  for (std::size_t i = 1; i < operands.size(); ++i) result = Expr(op, std::move(result), operands[i].second);
  return result;
}

void collect_operands(const Expr& e, ExprOp op, std::vector<std::pair<std::string, Expr>>& operands) {
  const bool associative = op != ExprOp::eq;  // (a == b) == c is not a == (b == c)
  for (const Expr* side : {&e.lhs(), &e.rhs()}) {
    if (associative && side->kind() == Expr::Kind::binary && side->op() == op) {
      collect_operands(*side, op, operands);
    } else {
      Expr operand = sorted(*side);
      const bool constant = operand.kind() == Expr::Kind::constant;
      std::string text = (constant ? "~" : "") + print(operand);  // "~" sorts after letters, digits and parentheses
      operands.emplace_back(std::move(text), std::move(operand));
    }
  }
}

// Orders arguments: names come first, shorter names before longer ones (v9 before v10), and constants come last.
bool argument_before(const Arg& a, const Arg& b) {
  if (a.index() != b.index()) return a.index() < b.index();
  const auto* name = std::get_if<std::string>(&a);
  if (name == nullptr) return std::get<double>(a) < std::get<double>(b);
  const std::string& other = std::get<std::string>(b);
  return name->size() != other.size() ? name->size() < other.size() : *name < other;
}

// Renames buffers, axes and values in order of appearance.
class Renamer {
 public:
  Canonical run(Program program) {
    program.name = "kernel";
    body(program.body);
    for (const Buffer& buffer : program.buffers) fresh(buffers_, buffer.name, "b");  // unused buffers come last
    Canonical result;
    result.buffers.resize(program.buffers.size());
    std::vector<Buffer> buffers(program.buffers.size());
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      Buffer& buffer = program.buffers[i];
      buffer.name = buffers_.at(buffer.name);
      buffer.fill.reset();  // the values for measuring do not affect what is computed
      const std::size_t place = std::stoul(buffer.name.substr(1));
      result.buffers[place] = i;
      buffers[place] = std::move(buffer);
    }
    program.buffers = std::move(buffers);
    result.program = std::move(program);
    return result;
  }

 private:
  using Names = std::map<std::string, std::string, std::less<>>;

  static std::string fresh(Names& names, const std::string& name, const char* stem) {
    return names.try_emplace(name, stem + std::to_string(names.size())).first->second;
  }

  void body(Body& statements) {
    for (Stmt& stmt : statements) statement(stmt);
  }

  void statement(Stmt& stmt) {
    const std::size_t outside = variables_.size();
    const bool accumulates = stmt.as<Accum>() != nullptr || stmt.as<SoftmaxSum>() != nullptr;
    for_each_part(stmt, cases{[&](Expr& e) { e = sorted(substitute(e, variables_)); },
                              [&](Use use, std::string& n) { name(use, n, accumulates); },
                              [&](Axis& a) { axis(a.name); }, [&](Body& inside) { body(inside); }});
    auto* assign = stmt.as<Assign>();
    if (assign != nullptr && product_commutes(assign->op) && argument_before(assign->args[1], assign->args[0]))
      std::swap(assign->args[0], assign->args[1]);
    if (inner_body(stmt) != nullptr) variables_.resize(outside);
  }

  void name(Use use, std::string& name, bool accumulates) {
    if (use == Use::value)
      value(name);
    else if (use == Use::defines)
      accumulates ? accumulator(name) : definition(name);
    else
      buffer(name);
  }
  void buffer(std::string& name) { name = fresh(buffers_, name, "b"); }
  void accumulator(std::string& name) { name = fresh(accumulators_, name, "acc"); }
  void value(std::string& name) {
    const auto found = accumulators_.find(name);
    name = found != accumulators_.end() ? found->second : fresh(values_, name, "v");
  }
  // Renames a value at its definition and in later index expressions, which may use integer values.
  void definition(std::string& name) {
    std::string before = name;
    value(name);
    variables_.emplace_back(std::move(before), var(name));
  }
  void axis(std::string& name) {
    std::string next = "a" + std::to_string(axes_++);
    variables_.emplace_back(std::exchange(name, next), var(next));
  }

  Names buffers_, values_, accumulators_;
  Substitution variables_;  // axes and values in scope
  int axes_ = 0;
};

// Returns one operation for all operations that cost the same and occur in the same places, so that a schedule does not
// distinguish them. Equality represents the comparisons because it commutes, as addition does.
Op representative(Op op) {
  switch (op) {
    case Op::subtract:
      return Op::add;
    case Op::less:
    case Op::less_equal:
    case Op::not_equal:
      return Op::equal;
    default:
      return op;
  }
}

void collapse_clusters(Body& body) {
  for_each<Assign>(body, [](Assign& assign) { assign.op = representative(assign.op); });
}

}  // namespace

Canonical canonical(Program loop) {
  CHECK(loop.level == Level::loop);
  renumber_axes(loop);  // sibling loops may share a name, and one of them may be dropped
  UnitAxes().drop(loop);
  order_statements(loop);
  return Renamer().run(std::move(loop));
}

Canonical renamed(Program loop) {
  CHECK(loop.level == Level::loop);
  renumber_axes(loop);
  return Renamer().run(std::move(loop));
}

std::vector<std::size_t> corresponding_buffers(const Canonical& mine, const Canonical& theirs) {
  CHECK(mine.buffers.size() == theirs.buffers.size());
  std::vector<std::size_t> result(mine.buffers.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[theirs.buffers[i]] = mine.buffers[i];
  return result;
}

Canonical schedule_form(Program loop) {
  collapse_clusters(loop.body);
  return canonical(std::move(loop));
}

StructuralKeys structural_keys(const Program& loop) {
  return {digest(print(schedule_form(loop).program)), digest(print(canonical(loop).program))};
}

}  // namespace deplo::ir
