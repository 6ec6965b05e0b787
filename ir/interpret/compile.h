// Private to the interpreter: resolves names to slots and statements to instructions.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/accumulators.h"
#include "ir/interpret/machine.h"

namespace deplo::ir::exec {

using FreeValues = std::map<std::string, std::int64_t, std::less<>>;

class Compiler {
 public:
  Compiler(const Program& program, const FreeValues* free_values, const Limits& limits);
  Machine take() { return std::move(machine_); }

 private:
  void launch(const Tile& tile);
  void body(const Body& body, Code& out);
  void statement(const Stmt& stmt, Code& out);

  InitCode start(const std::string& acc, int lanes, Op op);
  IndexCode evaluate(const ir::Index& s);
  LoopCode loop(const Loop& s);
  ComputeCode compute(const std::string& dst, const Type& type, Op op, const std::vector<Arg>& args, bool accumulates);
  WriteCode write(const Write& s);
  CombineCode combine(const Combine& s);
  TreeCode tree(const TreeHalve& s);
  // compile_async.cpp
  StageCode stage(const Stage& s);
  bool behind_barrier(const Stage& s) const;
  AsyncWaitCode wait(const AsyncWait& s);
  ShuffleCode shuffle(const WarpShuffle& s);
  CopyCode copy(const CpAsyncCopy& s);
  TmaCode load(const TmaLoad& s);
  void declare(const MbarrierInit& s);
  void declare(const TmaDescriptor& s);
  int barrier(const std::string& name) const;
  /// `count` elements of memory for cells of the shape: a stage's layout may need more.
  void declare_shared(const std::string& name, DType dtype, std::vector<std::int64_t> shape, std::int64_t count,
                      std::int64_t align);
  void reserve_shared(std::int64_t size, std::int64_t align);

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
  Limits limits_;
  std::multimap<std::int64_t, std::int64_t, std::greater<>> shared_pieces_;  // alignment → bytes
  bool opens_group_ = false;
  Machine machine_;
  std::vector<AccumulatorStart> starts_;
  std::map<const Stmt*, std::uint64_t> dependences_;
  const Tile* tile_ = nullptr;
  std::vector<std::vector<int>> lane_steps_;        // of each axis of the Tile: lane distance and extent
  std::vector<std::pair<std::string, int>> scope_;  // axis → variable
  std::vector<std::string> loops_;                  // around the statement
  std::map<std::string, Operand, std::less<>> values_;
  const Stmt* at_ = nullptr;  // for messages
};

}  // namespace deplo::ir::exec
