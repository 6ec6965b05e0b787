// chunk_matmul_k: the K reduce of a matmul becomes a loop over chunks of bk, the boundary that staging works on.
//   for a2 in 0..3584: # reduce { S(a2) }   →   for a2 in 0..224: # free { for a3 in 0..16: # reduce { S(((a2 * 16) + a3)) } }
// A chunk that does not divide K guards its tail: if (((a2 * bk) + a3) < K).
#include <algorithm>

#include "ir/walk.h"
#include "rules/resources.h"
#include "rules/tile/common.h"
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

// A chunk of both operands must leave shared memory for a useful tile on GPUs (16 first, as the seeds do). On CPUs long
// chunks pay: the accumulators of every thread of a block are spilled and reloaded once per chunk.
std::vector<Value> chunk_sizes(std::int64_t k, const Target& target) {
  const std::vector<std::int64_t> preferred = target.cpu ? std::vector<std::int64_t>{128, 256, 64, 512, 32}
                                                         : std::vector<std::int64_t>{16, 32, 8, 64, 128};
  std::vector<Value> result;
  for (const std::int64_t bk : preferred)
    if (bk < k && k % bk == 0) add_option(result, bk);
  const std::int64_t high = std::min<std::int64_t>(target.cpu ? 512 : 128, k - 1);
  std::vector<std::int64_t> rest = divisors(k, 8, high);
  constexpr std::size_t most_odd = 4;  // divisors such as 37 of 777: enough of them to choose from, largest first
  if (result.empty())
    for (std::size_t i = 0; i < std::min(most_odd, rest.size()); ++i) add_option(result, rest[rest.size() - 1 - i]);
  if (result.size() < 2)
    for (const std::int64_t bk : preferred)
      if (bk < k) add_option(result, bk);  // guarded tail
  if (target.cpu || result.empty()) add_option(result, k);  // one chunk: the loop stays as it is
  return result;
}

Verdict decide(const ir::Program& program, const Target& target, std::span<const Choice> pins) {
  const auto matmul = find_matmul(program);
  if (!matmul) return Skip{"no matmul-shaped reduce loop"};
  if (!pins.empty()) return Apply{};
  return Fork{"bk", chunk_sizes(matmul->reduce->axis.extent, target)};
}

ir::Loop chunked(ir::Loop loop, std::int64_t bk, const std::string& inner_name) {
  const std::int64_t k = loop.axis.extent;
  ir::Loop inner = {{inner_name, bk, ir::Bind::reduce}, 0, 1, 1, std::move(loop.body)};
  if (k % bk != 0) {
    ir::If guard = {ir::less(ir::var(loop.axis.name), k), std::move(inner.body)};
    inner.body.clear();
    inner.body.emplace_back(std::move(guard));
  }
  ir::Loop outer = {{loop.axis.name, ceil_div(k, bk), ir::Bind::free}, 0, 1, 1, {}};
  outer.body.emplace_back(std::move(inner));
  return outer;
}

ir::Program apply(ir::Program program, const Target&, std::span<const Choice> pins) {
  const std::int64_t bk = pin(pins, "bk");
  auto* loop = const_cast<ir::Loop*>(find_matmul(program)->reduce);
  if (bk == loop->axis.extent) return program;
  const std::string outer = loop->axis.name, inner = ir::fresh_axis(program);
  *loop = chunked(std::move(*loop), bk, inner);
  ir::substitute_axes(program, {{outer, ir::var(outer) * bk + ir::var(inner)}});
  return program;
}

}  // namespace

const Rule chunk_matmul_k = {"chunk_matmul_k", decide, apply};

}  // namespace deplo::rules
