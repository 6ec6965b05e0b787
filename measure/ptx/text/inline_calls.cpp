#include "measure/ptx/text/inline_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::size_t max_statements = 1 << 20;
constexpr int deepest_call = 16;

using Renames = std::map<std::string, std::string>;

void rename(Operand& operand, const Renames& names) {
  if (const auto found = names.find(operand.name); found != names.end()) operand.name = found->second;
  for (Operand& part : operand.parts) rename(part, names);
}

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module) {}

  Function run(const Function& entry) {
    result_ = entry;
    result_.statements.clear();
    result_.labels.clear();
    append(entry, {}, "", 0);
    return std::move(result_);
  }

 private:
  const Function* find(const std::string& name) const {
    const auto found = std::ranges::find(module_.callees, name, &Function::name);
    return found == module_.callees.end() ? nullptr : &*found;
  }

  // `end`: the label that a return branches to; "": a return ends the thread.
  void append(const Function& f, const Renames& names, const std::string& end, int depth) {
    std::map<std::size_t, std::vector<std::string>> labels;
    for (const auto& [label, at] : f.labels) labels[at].push_back(label);
    for (std::size_t i = 0; i <= f.statements.size(); ++i) {
      for (const std::string& label : labels[i]) {
        const auto found = names.find(label);
        result_.labels[found == names.end() ? label : found->second] = result_.statements.size();
      }
      if (i < f.statements.size()) append(f.statements[i], names, end, depth);
    }
  }

  void append(Statement s, const Renames& names, const std::string& end, int depth) {
    if (result_.statements.size() > max_statements) fail(s, "expected fewer instructions after inlining the calls");
    for (Operand& operand : s.operands) rename(operand, names);
    if (const auto found = names.find(s.guard); found != names.end()) s.guard = found->second;
    const bool returns = s.opcode == "ret" || s.opcode == "ret.uni";
    if (returns && !end.empty()) {
      s.opcode = "bra";
      s.operands = {{.kind = Operand::Kind::name, .name = end}};
    }
    const Function* const callee = s.opcode.starts_with("call") ? find(s.operands.at(0).name) : nullptr;
    if (callee == nullptr)
      result_.statements.push_back(std::move(s));
    else
      call(s, *callee, depth);
  }

  void call(const Statement& s, const Function& callee, int depth) {
    if (depth == deepest_call) fail(s, "expected calls without recursion");
    if (!s.guard.empty()) fail(s, "expected a call without a predicate");
    const std::string suffix = fmt::format("@{}", ++calls_), end = "end" + suffix;
    Renames names;
    for (const Register& r : callee.registers) result_.registers.push_back({names[r.name] = r.name + suffix, r.bits});
    for (Variable v : callee.variables) {
      v.name = names[v.name] = v.name + suffix;
      result_.variables.push_back(std::move(v));
    }
    for (const auto& [label, at] : callee.labels) names[label] = label + suffix;
    const auto pass = [&](const std::vector<Variable>& formal, const std::vector<Operand>& actual) {
      if (formal.size() != actual.size())
        fail(s, fmt::format("expected {} arguments, found {}", formal.size(), actual.size()));
      for (std::size_t i = 0; i < formal.size(); ++i) names[formal[i].name] = actual[i].name;
    };
    pass(callee.parameters, s.operands.at(1).parts);
    pass(callee.results, s.operands.at(2).parts);
    append(callee, names, end, depth + 1);
    result_.labels[end] = result_.statements.size();
  }

  [[noreturn]] static void fail(const Statement& s, const std::string& what) {
    throw Error(fmt::format("PTX line {}: {}: {}", s.line, s.operands.empty() ? s.opcode : s.operands[0].name, what));
  }

  const Module& module_;
  Function result_;
  int calls_ = 0;
};

}  // namespace

Function inline_calls(const Module& module, const Function& entry) {
  return module.callees.empty() ? entry : Inliner(module).run(entry);
}

}  // namespace deplo::measure::ptx
