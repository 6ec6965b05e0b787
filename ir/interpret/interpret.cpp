// The interpreter: entry point and control flow.
#include "ir/interpret/interpret.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/text/match.h"
#include "ir/interpret/machine.h"

namespace deplo::ir {
namespace exec {

std::string text_of(const Stmt& stmt) {
  const std::string text = print(Body{stmt});
  const std::size_t from = text.find_first_not_of(" \n");
  return from == std::string::npos ? text : text.substr(from, text.find('\n', from) - from);
}

std::string Machine::place(int lane) const {
  return "block " + std::to_string(block_) + ", thread " + std::to_string(thread(lane));
}

bool Machine::full(Mask mask) const {
  return mask == nullptr || std::all_of(mask, mask + lanes, [](auto m) { return m != 0; });
}

void Machine::run() {
  index_.resize(static_cast<std::size_t>(lanes));
  offset_.resize(static_cast<std::size_t>(lanes));
  from_.resize(static_cast<std::size_t>(lanes));
  result_.resize(static_cast<std::size_t>(lanes));
  if (rounds) start_rounding();
  std::int64_t blocks = 1;
  for (const auto& axis : block_axes) blocks *= axis.second;
  for (block_ = 0; block_ < blocks; ++block_) {
    std::int64_t rest = block_;
    for (auto axis = block_axes.rbegin(); axis != block_axes.rend(); ++axis) {
      variables[static_cast<std::size_t>(axis->first)].scalar = rest % axis->second;
      rest /= axis->second;
    }
    start_block();
    execute(code, nullptr);
    check_completed();
  }
}

void Machine::start_block() {
  ++epoch_;
  for (Shared& s : shared) std::fill(s.cells.begin(), s.cells.end(), Cell{});
  for (Barrier& b : barriers) std::fill(b.slots.begin(), b.slots.end(), Barrier::Slot{});
  flights_.clear();
  groups_.assign(static_cast<std::size_t>(threads), 0);
}

void Machine::execute(Code& body, Mask mask) {
  for (Instruction& at : body)
    match(
        at.code, [&](LoopCode& c) { c.start.varies ? strided_loop(c, mask) : loop(c, mask); },
        [&](LoadCode& c) { load(at, c, mask); }, [&](IndexCode& c) { evaluate(c); },
        [&](ComputeCode& c) { compute(c, mask); }, [&](InitCode& c) { init(c, mask); },
        [&](WriteCode& c) { write(at, c, mask); }, [&](IfCode& c) { branch(c, mask); },
        [&](StageCode& c) { stage(at, c, mask); }, [&](CombineCode& c) { combine(at, c, mask); },
        [&](SyncCode&) { barrier(at, mask); }, [&](TreeCode& c) { tree(at, c, mask); },
        [&](AsyncWaitCode& c) { wait(at, c, mask); }, [&](ShuffleCode& c) { shuffle(at, c, mask); },
        [&](CopyCode& c) { copy(at, c, mask); }, [&](CommitCode&) { commit(mask); },
        [&](CopyWaitCode& c) { wait(c, mask); }, [&](BarrierInitCode& c) { init(at, c, mask); },
        [&](ArriveCode& c) { arrive(at, c, mask); }, [&](BarrierWaitCode& c) { wait(at, c, mask); },
        [&](TmaCode& c) { load(at, c, mask); });
}

void Machine::loop(LoopCode& c, Mask mask) {
  const auto variable = static_cast<std::size_t>(c.variable);
  for (std::int64_t v = scalar(c.start); v < c.extent;) {
    variables[variable].scalar = v;
    execute(c.body, mask);
    if (__builtin_add_overflow(v, c.step, &v)) break;
  }
}

// Each lane has its own start, and leaves when its own variable reaches the extent.
void Machine::strided_loop(LoopCode& c, Mask mask) {
  std::vector<std::int64_t>& v = variables[static_cast<std::size_t>(c.variable)].lanes;
  vector(c.start, v.data());
  for (;;) {
    int active = 0;
    for (std::size_t l = 0; l < v.size(); ++l) {
      c.mask[l] = (mask == nullptr || mask[l] != 0) && v[l] < c.extent ? 1 : 0;
      active += c.mask[l];
    }
    if (active == 0) return;
    execute(c.body, active == lanes ? nullptr : c.mask.data());
    for (std::size_t l = 0; l < v.size(); ++l)
      if (c.mask[l] != 0 && __builtin_add_overflow(v[l], c.step, &v[l])) v[l] = INT64_MAX;
  }
}

void Machine::branch(IfCode& c, Mask mask) {
  if (!c.condition.varies) {
    if (scalar(c.condition) != 0) execute(c.then, mask);
    return;
  }
  vector(c.condition, index_.data());
  int active = 0;
  for (std::size_t l = 0; l < index_.size(); ++l) {
    c.mask[l] = (mask == nullptr || mask[l] != 0) && index_[l] != 0 ? 1 : 0;
    active += c.mask[l];
  }
  if (active > 0) execute(c.then, active == lanes ? nullptr : c.mask.data());
}

void Machine::converge(const Instruction& at, Mask mask) const {
  if (full(mask)) return;
  const auto idle = static_cast<int>(std::find(mask, mask + lanes, 0) - mask);
  throw Error("barrier in divergent control flow: " + place(idle) + " does not reach `" + text_of(*at.source) + "`");
}

void Machine::barrier(const Instruction& at, Mask mask) {
  converge(at, mask);
  ++epoch_;
}

void Machine::fault(const Instruction& at, const std::string& what, int lane) const {
  throw Error(what + ", in " + place(lane) + " at `" + text_of(*at.source) + "`");
}

}  // namespace exec

namespace {

void run(const Program& program, Memory& memory, const Limits& limits, Memory* rounding) {
  exec::Machine machine = exec::compile(program, nullptr, limits);
  machine.rounds = rounding != nullptr;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const auto found = memory.find(buffer.name);
    const std::int64_t expected = span(buffer);
    if (found == memory.end()) throw Error("interpret: expected memory for buffer " + buffer.name + ", found none");
    if (static_cast<std::int64_t>(found->second.size()) != expected)
      throw Error("interpret: expected " + std::to_string(expected) + " elements in buffer " + buffer.name +
                  ", found " + std::to_string(found->second.size()));
    machine.globals[i].data = found->second;
    if (buffer.role != Role::output) continue;
    machine.globals[i].writers.assign(found->second.size(), 0);
    if (rounding != nullptr) {
      (*rounding)[buffer.name].assign(found->second.size(), 0);
      machine.globals[i].rounding = (*rounding)[buffer.name];
    }
  }
  for (const std::size_t i : zeroed_buffers(program)) std::ranges::fill(machine.globals[i].data, 0.0);
  machine.run();
}

}  // namespace

void interpret(const Program& program, Memory& memory, const Limits& limits) { run(program, memory, limits, nullptr); }

Memory interpret_rounding(const Program& loop, Memory& memory) {
  CHECK(loop.level == Level::loop);
  Memory rounding;
  run(loop, memory, {}, &rounding);
  return rounding;
}

}  // namespace deplo::ir
