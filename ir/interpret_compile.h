// Private to the interpreter: resolves names to slots and statements to instructions.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/accumulators.h"
#include "ir/interpret_machine.h"

namespace deplo::ir::exec {

using FreeValues = std::map<std::string, std::int64_t, std::less<>>;

class Compiler {
 public:
  Compiler(const Program& program, const FreeValues* free_values);
  Machine take() { return std::move(machine_); }

 private:
  void launch(const Tile& tile);
  void body(const Body& body, Code& out);
  void statement(const Stmt& stmt, Code& out);

  IndexCode evaluate(const ir::Index& s);
  LoopCode loop(const Loop& s);
  ComputeCode compute(const std::string& dst, const Type& type, Op op, const std::vector<Arg>& args, bool accumulates);
  WriteCode write(const Write& s);
  StageCode stage(const Stage& s);
  CombineCode combine(const Combine& s);
  TreeCode tree(const TreeHalve& s);
  void declare_shared(const std::string& name, std::vector<std::int64_t> shape);

  Index index(const Expr& e);
  Access access(const std::string& buffer, const std::vector<Expr>& indices, int lanes);
  Operand operand(const Arg& arg, int lanes);
  std::size_t define(const std::string& name, int lanes);
  std::size_t constant(double value);
  int variable(bool varies);
  std::uint64_t registers_of(const Stmt& stmt) const;
  /// Each lane's first lane in the group that differs in the axes only.
  std::vector<int> representatives(std::uint64_t axes) const;
  [[noreturn]] void fail(const std::string& what) const;

  const Program& program_;
  const FreeValues* free_values_;
  Machine machine_;
  std::vector<AccumulatorStart> starts_;
  std::map<const Stmt*, std::uint64_t> dependences_;
  const Tile* tile_ = nullptr;
  std::vector<std::vector<int>> lane_steps_;        // of each axis of the Tile: lane distance and extent
  std::vector<std::pair<std::string, int>> scope_;  // axis → variable
  std::map<std::string, Operand, std::less<>> values_;
  const Stmt* at_ = nullptr;  // for messages
};

}  // namespace deplo::ir::exec
