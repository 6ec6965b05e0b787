#include "ir/module.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/match.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

/// Dimensions of extent 1 say nothing about what is computed: x: f32[1, 32, 2048] is read [0, i, j] where f32[32, 2048]
/// is read [i, j].
class UnitDimensions {
 public:
  void drop(Program& program) {
    for (Buffer& buffer : program.buffers) {
      std::vector<bool>& unit = unit_[buffer.name];
      for (const std::int64_t extent : buffer.shape) unit.push_back(extent == 1);
      if (std::ranges::count(unit, false) == 0) unit.front() = false;  // a buffer has a dimension
      erase(buffer.shape, unit);
      erase(buffer.strides, unit);
    }
    body(program.body);
  }

 private:
  template <class T>
  static void erase(std::vector<T>& list, const std::vector<bool>& gone) {
    std::size_t i = 0;
    std::erase_if(list, [&](const T&) { return gone[i++]; });
  }
  void body(Body& statements) {
    for (Stmt& stmt : statements) {
      if (auto* load = stmt.as<Load>()) erase(load->index, unit_.at(load->buffer));
      if (auto* write = stmt.as<Write>()) erase(write->index, unit_.at(write->buffer));
      if (Body* inner = inner_body(stmt)) body(*inner);
    }
  }
  std::map<std::string, std::vector<bool>, std::less<>> unit_;
};

class Anonymizer {
 public:
  Program run(Program program) {
    CHECK(program.level == Level::loop);
    UnitDimensions().drop(program);
    program.name = "kernel";
    for (Buffer& buffer : program.buffers) buffer.name = fresh(buffers_, buffer.name, "b");
    body(program.body);
    return program;
  }

 private:
  using Names = std::map<std::string, std::string, std::less<>>;

  static std::string fresh(Names& names, const std::string& name, const char* stem) {
    return names.try_emplace(name, stem + std::to_string(names.size())).first->second;
  }

  void body(Body& statements) {
    for (Stmt& stmt : statements) match(stmt.node, [&](auto& node) { statement(node); });
  }

  void expression(Expr& e) { e = substitute(e, variables_); }
  void expressions(std::vector<Expr>& list) {
    for (Expr& e : list) expression(e);
  }
  void buffer(std::string& name) { name = fresh(buffers_, name, "b"); }
  void accumulator(std::string& name) { name = fresh(accumulators_, name, "acc"); }
  void value(std::string& name) {
    const auto found = accumulators_.find(name);
    name = found != accumulators_.end() ? found->second : fresh(values_, name, "v");
  }
  void values(std::vector<Arg>& args) {
    for (Arg& arg : args)
      if (auto* name = std::get_if<std::string>(&arg)) value(*name);
  }
  // Integers may stand in the indices of what follows.
  void definition(std::string& name, const Type& type) {
    std::string before = name;
    value(name);
    if (type == Type{DType::i32, 1}) variables_.emplace_back(std::move(before), var(name));
  }
  void axis(std::string& name) {
    std::string next = "a" + std::to_string(axes_++);
    variables_.emplace_back(std::exchange(name, next), var(next));
  }

  void statement(Loop& s) {
    expression(s.start);
    const std::size_t outside = variables_.size();
    axis(s.axis.name);
    body(s.body);
    variables_.resize(outside, {"", Expr(0)});
  }
  void statement(If& s) {
    expression(s.condition);
    body(s.then);
  }
  void statement(Load& s) {
    buffer(s.buffer);
    expressions(s.index);
    definition(s.dst, s.type);
  }
  void statement(Index& s) {
    expression(s.value);
    definition(s.dst, s.type);
  }
  void statement(Assign& s) {
    values(s.args);
    definition(s.dst, s.type);
  }
  void statement(Accum& s) {
    values(s.args);
    accumulator(s.dst);
  }
  void statement(Write& s) {
    buffer(s.buffer);
    expressions(s.index);
    if (auto* name = std::get_if<std::string>(&s.value)) value(*name);
  }
  template <class T>
  void statement(T&) {
    CHECK(!"a statement of Loop IR");
  }

  Names buffers_, values_, accumulators_;
  Substitution variables_;  // axes in scope and integer values
  int axes_ = 0;
};

}  // namespace

const Tensor* Module::find(std::string_view tensor) const {
  const auto found = std::ranges::find(tensors, tensor, &Tensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::string title(const Program& kernel, std::size_t number) {
  std::string inputs, outputs;
  for (const Buffer& buffer : kernel.buffers) {
    std::string& list = buffer.role == Role::input ? inputs : outputs;
    (list += list.empty() ? "" : ", ") += buffer.name;
  }
  return std::to_string(number) + ": " + inputs + (inputs.empty() ? "-> " : " -> ") + outputs;
}

std::string print(const Module& module) {
  std::string text;
  for (std::size_t i = 0; i < module.kernels.size(); ++i)
    text += "# " + title(module.kernels[i], i) + "\n" + print(module.kernels[i]);
  return text;
}

std::string anonymous_text(const Program& loop) { return print(Anonymizer().run(loop)); }

}  // namespace deplo::ir
