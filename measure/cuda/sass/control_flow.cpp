#include "measure/cuda/sass/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/error.h"
#include "core/text/one_of.h"
#include "measure/cuda/sass/instruction_class.h"

namespace deplo::measure::cuda::sass {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Where control may go after an instruction.
struct Ways {
  std::vector<std::size_t> targets;  // indices of instructions in the same function
  bool next = true;                  // control may also go to the next instruction
};

Ways ways_of(const Instruction& instruction, const std::map<std::string, std::size_t, std::less<>>& labels) {
  const std::string_view mnemonic = instruction.mnemonic();
  const bool always = instruction.guard.empty() || instruction.guard == "@PT" || instruction.guard == "@UPT";
  Ways ways;
  if (is_one_of(mnemonic, {"EXIT", "RET", "KILL"})) ways.next = !always;
  const bool branch = is_one_of(mnemonic, {"BRA", "JMP", "BRX", "BRXU", "JMX", "JMXU"});
  if (!branch && mnemonic != "CALL") return ways;
  const std::vector<std::string> names = mentioned(instruction);
  if (is_one_of(mnemonic, {"BRA", "JMP"}) && names.empty())
    throw Error(fmt::format("nvdisasm, line {}: expected a label after {}, found '{}'", instruction.line,
                            instruction.opcode, instruction.operands));
  for (const std::string& name : names)
    if (const auto label = labels.find(name); label != labels.end()) ways.targets.push_back(label->second);
  // A branch such as `BRA !P2, `(.L_x_1)` has its condition among the operands.
  if (branch) ways.next = !always || instruction.operands.find(',') != std::string::npos;
  return ways;
}

/// The immediate dominator of each block: the last block that is on all paths to it. It is `none` for unreachable
/// blocks. Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm".
class Dominators {
 public:
  explicit Dominators(const std::vector<Block>& blocks)
      : number_(blocks.size(), none), dominator_(blocks.size(), none), predecessors_(blocks.size()) {
    order(blocks);
    for (const std::size_t block : order_)
      for (const std::size_t next : blocks[block].successors) predecessors_[next].push_back(block);
    dominator_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::size_t block : order_) {
        if (block == 0) continue;
        std::size_t common = none;
        for (const std::size_t before : predecessors_[block])
          if (dominator_[before] != none) common = common == none ? before : meet(before, common);
        changed = changed || dominator_[block] != common;
        dominator_[block] = common;
      }
    }
  }
  /// The reachable blocks from which control may go to the block.
  const std::vector<std::size_t>& predecessors(std::size_t block) const { return predecessors_[block]; }
  bool dominates(std::size_t above, std::size_t block) const {
    if (dominator_[block] == none) return false;
    while (block != above && block != 0) block = dominator_[block];
    return block == above;
  }

 private:
  // Computes the reverse postorder of the reachable blocks, without recursion, because a kernel may have thousands of
  // blocks in a row.
  void order(const std::vector<Block>& blocks) {
    std::vector<bool> seen(blocks.size(), false);
    std::vector<std::pair<std::size_t, std::size_t>> path{{0, 0}};
    seen[0] = true;
    while (!path.empty()) {
      auto& [block, done] = path.back();
      if (done == blocks[block].successors.size()) {
        order_.push_back(block);
        path.pop_back();
        continue;
      }
      const std::size_t next = blocks[block].successors[done++];
      if (!seen[next]) path.emplace_back(next, 0);
      seen[next] = true;
    }
    std::ranges::reverse(order_);
    for (std::size_t i = 0; i < order_.size(); ++i) number_[order_[i]] = i;
  }
  std::size_t meet(std::size_t a, std::size_t b) const {
    while (a != b) {
      while (number_[a] > number_[b]) a = dominator_[a];
      while (number_[b] > number_[a]) b = dominator_[b];
    }
    return a;
  }

  std::vector<std::size_t> order_, number_, dominator_;
  std::vector<std::vector<std::size_t>> predecessors_;
};

/// A loop, and its latches: the blocks that jump back to its header.
struct Candidate {
  Loop loop;
  std::vector<std::size_t> latches;
};

/// Returns the blocks of a loop. `count`: the number of all blocks.
std::vector<std::size_t> body(std::size_t count, const Dominators& dominators, std::size_t header,
                              const std::vector<std::size_t>& latches) {
  std::vector<bool> in(count, false);
  in[header] = true;
  std::vector<std::size_t> open = latches;
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    if (in[block]) continue;
    in[block] = true;
    const std::vector<std::size_t>& before = dominators.predecessors(block);
    open.insert(open.end(), before.begin(), before.end());
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i)
    if (in[i]) found.push_back(i);
  return found;
}

std::vector<Candidate> natural_loops(const Function& function, const std::vector<Block>& blocks) {
  const Dominators dominators(blocks);
  std::map<std::size_t, std::vector<std::size_t>> latches;  // header → latches
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const std::size_t next : blocks[i].successors)
      if (dominators.dominates(next, i)) latches[next].push_back(i);
  std::vector<Candidate> loops;
  for (const auto& [header, ends] : latches) {
    Candidate one{{"", header, 0, body(blocks.size(), dominators, header, ends), {}}, ends};
    for (const std::size_t block : one.loop.blocks)
      for (std::size_t i = blocks[block].begin; i < blocks[block].end; ++i) one.loop.instructions.push_back(i);
    for (const auto& [name, at] : function.labels)
      if (at == blocks[header].begin) one.loop.label = name;
    loops.push_back(std::move(one));
  }
  return loops;
}

bool makes_uniform(const Function& function, const std::vector<Block>& blocks, const Candidate& loop) {
  return std::ranges::all_of(loop.latches, [&](std::size_t latch) {
    return function.instructions[blocks[latch].end - 1].has_modifier("ANY");
  });
}

/// True if the loop only polls a barrier and does nothing else.
bool waits(const Function& function, const Candidate& loop) {
  using enum InstructionClass;
  constexpr std::array of_wait{barrier, integer, move, constant, control};
  bool asks = false;
  for (const std::size_t i : loop.loop.instructions) {
    const InstructionClass what = kind_of(function.instructions[i]).what;
    if (std::ranges::find(of_wait, what) == of_wait.end()) return false;
    asks = asks || what == barrier;
  }
  return asks;
}

}  // namespace

std::vector<Block> basic_blocks(const Function& function) {
  const auto& instructions = function.instructions;
  std::map<std::string, std::size_t, std::less<>> labels(function.labels.begin(), function.labels.end());
  // Labels at the end of the code are dropped, because no instruction follows them.
  std::erase_if(labels, [&](const auto& label) { return label.second == instructions.size(); });
  std::vector<Ways> ways;
  std::vector<bool> first(instructions.size() + 1, false);
  if (!instructions.empty()) first[0] = true;
  for (const auto& [name, at] : labels) first[at] = true;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    ways.push_back(ways_of(instructions[i], labels));
    if (!ways[i].next || !ways[i].targets.empty()) first[i + 1] = true;
  }
  std::vector<Block> blocks;
  std::vector<std::size_t> block_of(instructions.size(), 0);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (first[i]) blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
    block_of[i] = blocks.size() - 1;
  }
  for (Block& block : blocks) {
    const Ways& last = ways[block.end - 1];
    for (const std::size_t target : last.targets) block.successors.push_back(block_of[target]);
    if (last.next && block.end < instructions.size()) block.successors.push_back(block_of[block.end]);
  }
  return blocks;
}

std::vector<Loop> find_loops(const Function& function) {
  const std::vector<Block> blocks = basic_blocks(function);
  if (blocks.empty()) return {};
  std::vector<Candidate> candidates = natural_loops(function, blocks);
  std::erase_if(candidates,
                [&](const Candidate& one) { return makes_uniform(function, blocks, one) || waits(function, one); });
  std::vector<Loop> loops;
  for (Candidate& one : candidates) loops.push_back(std::move(one.loop));
  for (Loop& loop : loops)
    for (const Loop& around : loops)
      loop.depth += around.header != loop.header && std::ranges::binary_search(around.blocks, loop.header);
  return loops;
}

}  // namespace deplo::measure::cuda::sass
