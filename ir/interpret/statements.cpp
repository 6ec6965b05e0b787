// Statement by statement: the instructions of a program.
#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/text/match.h"
#include "ir/interpret/compile.h"
#include "ir/walk.h"

namespace deplo::ir::exec {

void Compiler::body(const Body& body, Code& out) {
  std::size_t run_end = 0;  // of the stages that are waited for together
  for (std::size_t i = 0; i < body.size(); ++i) {
    at_ = &body[i];
    if (i >= run_end) {
      run_end = i + std::max<std::size_t>(1, stage_run(body, i));
      opens_group_ = true;
    }
    for (const AccumulatorStart& start : starts_) {
      if (start.body != &body || start.index != i) continue;
      out.push_back({at_, this->start(start.acc, 1, start.op)});
    }
    statement(body[i], out);
  }
}

void Compiler::statement(const Stmt& stmt, Code& out) {
  const auto emit = [&](auto code) { out.push_back({&stmt, std::move(code)}); };
  const auto mask = [&] { return std::vector<std::uint8_t>(static_cast<std::size_t>(machine_.lanes)); };
  match(
      stmt.node, [&](const Loop& s) { emit(loop(s)); },
      [&](const Load& s) {
        Access from = access(s.buffer, s.index, s.type.lanes);
        emit(LoadCode{define(s.dst, s.type.lanes), std::move(from)});
      },
      [&](const ir::Index& s) { emit(evaluate(s)); },
      [&](const Assign& s) { emit(compute(s.dst, s.type, s.op, s.args, false)); },
      [&](const Accum& s) { emit(compute(s.dst, s.type, s.op, s.args, true)); },
      [&](const Write& s) { emit(write(s)); }, [](const Prefetch&) {},
      [&](const If& s) {
        IfCode code{index(s.condition), mask(), {}};
        body(s.then, code.then);
        emit(std::move(code));
      },
      [&](const Tile& s) { body(s.body, out); }, [&](const Stage& s) { emit(stage(s)); },
      [&](const Combine& s) { emit(combine(s)); },
      [&](const Smem& s) { declare_shared(s.buffer, s.dtype, s.shape, element_count(s.shape), s.align); },
      [&](const Init& s) { emit(start(s.acc, s.type.lanes, s.op)); }, [&](const Sync&) { emit(SyncCode{}); },
      [&](const TreeHalve& s) { emit(tree(s)); }, [&](const AsyncWait& s) { emit(wait(s)); },
      [&](const WarpShuffle& s) { emit(shuffle(s)); }, [&](const CpAsyncCopy& s) { emit(copy(s)); },
      [&](const CpAsyncCommit&) { emit(CommitCode{}); }, [&](const CpAsyncWait& s) { emit(CopyWaitCode{s.keep}); },
      [&](const MbarrierInit& s) {
        declare(s);
        emit(BarrierInitCode{barrier(s.barrier)});
      },
      [&](const MbarrierArriveExpectTx& s) {
        emit(ArriveCode{barrier(s.barrier), index(s.slot), s.bytes});
      },
      [&](const MbarrierWait& s) {
        emit(BarrierWaitCode{barrier(s.barrier), index(s.slot), index(s.phase)});
      },
      [&](const TmaDescriptor& s) { declare(s); }, [&](const TmaLoad& s) { emit(load(s)); });
}

InitCode Compiler::start(const std::string& acc, int lanes, Op op) {
  const std::optional<double> value = neutral(op);
  if (!value) fail("expected an operation with a neutral element for " + acc);
  return {define(acc, lanes), lanes, *value};
}

IndexCode Compiler::evaluate(const ir::Index& s) {
  IndexCode code{define(s.dst, s.type.lanes), s.type.dtype, {}};
  for (int w = 0; w < s.type.lanes; ++w)
    code.lanes.push_back(index(s.type.lanes == 1 ? s.value : substitute(s.value, {{lane_variable, Expr(w)}})));
  return code;
}

LoopCode Compiler::loop(const Loop& s) {
  if (s.step < 1) fail("expected a positive step, found " + std::to_string(s.step));
  LoopCode code{0, index(s.start), s.axis.extent, s.step, {}, {}};
  if (free_values_ != nullptr && s.axis.bind == Bind::free) {
    const auto value = free_values_->find(s.axis.name);
    if (value == free_values_->end()) fail("expected a value of the free axis " + s.axis.name);
    code.start = {};
    code.start.constant = value->second;
    code.extent = std::min(code.extent, value->second + 1);
  }
  code.variable = variable(code.start.varies);
  if (code.start.varies) code.mask.resize(static_cast<std::size_t>(machine_.lanes));
  scope_.emplace_back(s.axis.name, code.variable);
  loops_.push_back(s.axis.name);
  body(s.body, code.body);
  loops_.pop_back();
  scope_.pop_back();
  return code;
}

ComputeCode Compiler::compute(const std::string& dst, const Type& type, Op op, const std::vector<Arg>& args,
                              bool accumulates) {
  if (args.size() + (accumulates ? 1 : 0) != static_cast<std::size_t>(arity(op))) fail("wrong number of arguments");
  const bool reduces = op >= Op::lanes_add;
  ComputeCode code{op, type.dtype, 0, type.lanes, accumulates, {}};
  for (const Arg& arg : args) code.args.push_back(operand(arg, reduces ? 0 : type.lanes));
  code.dst = accumulates ? operand(dst, type.lanes).value : define(dst, type.lanes);
  if (accumulates && values_.find(dst)->second.lanes != type.lanes) fail("the lanes of " + dst + " do not agree");
  return code;
}

WriteCode Compiler::write(const Write& s) {
  WriteCode code{access(s.buffer, s.index, s.lanes), operand(s.value, s.lanes), s.mode, {}};
  const std::vector<int> first = representatives(~registers_of(*at_));
  for (int l = 0; l < machine_.lanes; ++l)
    if (first[static_cast<std::size_t>(l)] == l) code.leads.push_back(l);
  return code;
}

// All axes where the level has no registers; thread axes count as depended on, for each thread runs its own statements.
std::uint64_t Compiler::registers_of(const Stmt& stmt) const {
  std::uint64_t axes = 0;
  for (std::size_t i = 0; tile_ != nullptr && i < tile_->axes.size(); ++i)
    if (tile_->axes[i].bind == Bind::thread) axes |= std::uint64_t{1} << i;
  const auto found = dependences_.find(&stmt);
  return found == dependences_.end() ? axes : axes | found->second;
}

CombineCode Compiler::combine(const Combine& s) {
  if (tile_ == nullptr || !neutral(s.op)) fail("expected a reduction in a Tile");
  const std::uint64_t depends = registers_of(*at_);
  std::uint64_t over = 0;
  CombineCode code{operand(s.acc, 1).value, s.op, false, {}};
  for (std::size_t i = 0; i < tile_->axes.size(); ++i) {
    const Axis& axis = tile_->axes[i];
    if (std::find(s.over.begin(), s.over.end(), axis.name) == s.over.end()) continue;
    if (((depends >> i) & 1) != 0) over |= std::uint64_t{1} << i;
    code.across_threads = code.across_threads || axis.bind == Bind::thread;
  }
  code.representative = representatives(over);
  return code;
}

TreeCode Compiler::tree(const TreeHalve& s) {
  std::vector<Expr> first = s.prefix;
  first.push_back(s.tid);
  TreeCode code{access(s.buffer, first, 1), s.op, s.length};
  if (!code.first.shared) fail("expected a shared buffer, found " + s.buffer);
  if (!neutral(s.op)) fail("expected an operation that reduces");
  return code;
}

}  // namespace deplo::ir::exec
