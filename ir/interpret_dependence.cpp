// Which register and vector axes a statement depends on: by its indices, by the values it reads, or by the conditions
// and loop starts around it.
#include "core/match.h"
#include "ir/interpret_machine.h"

namespace deplo::ir::exec {
namespace {

using Axes = std::uint64_t;

class Dependences {
 public:
  std::map<const Stmt*, Axes> of_statement;

  void walk(const Body& body, Axes context) {
    for (const Stmt& stmt : body) visit(stmt, context);
  }

 private:
  void visit(const Stmt& stmt, Axes context) {
    match(
        stmt.node,
        [&](const Loop& s) {
          axes_[s.axis.name] = of(s.start);
          // Twice, because an accumulator may be read before the statement that makes it depend on an axis.
          for (int pass = 0; pass < 2; ++pass) walk(s.body, context | of(s.start));
        },
        [&](const If& s) { walk(s.then, context | of(s.condition)); },
        [&](const Tile& s) {
          for (std::size_t i = 0; i < s.axes.size(); ++i)
            axes_[s.axes[i].name] = s.axes[i].bind == Bind::reg || s.axes[i].bind == Bind::vector ? Axes{1} << i : 0;
          walk(s.body, context);
        },
        [&](const Load& s) { values_[s.dst] = of(s.index) | context; },
        [&](const Assign& s) { values_[s.dst] = of(s.args) | context; },
        [&](const Accum& s) { values_[s.dst] |= of(s.args) | context; },
        [&](const Write& s) { of_statement[&stmt] |= of(s.index) | of({s.value}) | context; },
        [&](const Combine& s) {
          of_statement[&stmt] |= values_[s.acc];
          for (const std::string& name : s.over) values_[s.acc] &= ~axes_[name];
        },
        [](const auto&) {});
  }

  Axes of(const Expr& e) const {
    std::vector<std::string> names;
    collect_variables(e, names);
    Axes axes = 0;
    for (const std::string& name : names)
      if (const auto found = axes_.find(name); found != axes_.end()) axes |= found->second;
    return axes;
  }
  Axes of(const std::vector<Expr>& index) const {
    Axes axes = 0;
    for (const Expr& e : index) axes |= of(e);
    return axes;
  }
  Axes of(const std::vector<Arg>& args) const {
    Axes axes = 0;
    for (const Arg& arg : args)
      if (const auto* name = std::get_if<std::string>(&arg))
        if (const auto found = values_.find(*name); found != values_.end()) axes |= found->second;
    return axes;
  }

  std::map<std::string, Axes> axes_, values_;
};

}  // namespace

std::map<const Stmt*, std::uint64_t> register_dependences(const Body& body) {
  Dependences dependences;
  dependences.walk(body, 0);
  return std::move(dependences.of_statement);
}

}  // namespace deplo::ir::exec
