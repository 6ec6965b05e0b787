// Private to the interpreter: a program resolved to slots, ready to run over the lanes of a block in lockstep.
// A lane is one thread, at Tile level one combination of thread, register and vector axes: lane = thread * registers +
// register. An index or a variable is uniform when it is the same in all lanes of a block, and then a scalar.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "ir/interpret/async.h"
#include "ir/interpret/interpret.h"

namespace deplo::ir::exec {

using Code = std::vector<struct Instruction>;
struct LoopCode {
  int variable;
  Index start;
  std::int64_t extent, step;
  std::vector<std::uint8_t> mask;
  Code body;
};
struct LoadCode {
  std::size_t dst;
  Access from;
};
struct IndexCode {
  std::size_t dst;
  DType dtype;
  std::vector<Index> lanes;
};
struct ComputeCode {  // Assign and Accum: dst = op(args), or where accumulates dst = op(dst, args)
  Op op;
  DType dtype;  // what a copy converts to
  std::size_t dst;
  int lanes;
  bool accumulates;
  std::vector<Operand> args;
};
struct InitCode {
  std::size_t dst;
  int lanes;
  double value;
};
struct WriteCode {
  Access to;
  Operand value;
  WriteMode mode;
  std::vector<int> leads;  // the lanes that execute it: one for all registers that it does not depend on
};
struct IfCode {
  Index condition;
  std::vector<std::uint8_t> mask;
  Code then;
};
struct CombineCode {
  std::size_t acc;
  Op op;
  bool across_threads;
  std::vector<int> representative;  // of each lane: the first lane of its group
};
struct SyncCode {};
struct TreeCode {
  Access first;  // the prefix and tid
  Op op;
  std::int64_t length;
};
struct Instruction {
  const Stmt* source;
  std::variant<LoopCode, LoadCode, IndexCode, ComputeCode, InitCode, WriteCode, IfCode, StageCode, AsyncWaitCode,
               CombineCode, SyncCode, TreeCode, ShuffleCode, CopyCode, CommitCode, CopyWaitCode, BarrierInitCode,
               ArriveCode, BarrierWaitCode, TmaCode>
      code;
};

struct Machine;
/// Resolves the names. `free_values`: where given, each free loop runs for its value only.
Machine compile(const Program& program, const std::map<std::string, std::int64_t, std::less<>>* free_values,
                const Limits& limits = {});
/// First line of the statement's text.
std::string text_of(const Stmt& stmt);
/// out[i] = op(args…[i]) for n elements.
void apply_lanes(Op op, std::int64_t n, double* out, const double* a, const double* b, const double* c);

/// Which register and vector axes (bit per axis, in the order of the Tile) a Write depends on, and a Combine's
/// accumulator before it.
std::map<const Stmt*, std::uint64_t> register_dependences(const Body& body);

}  // namespace deplo::ir::exec
