// Routed MLPs as people write them in PyTorch. The tests of several layers use them.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace deplo::tests {

struct RoutedMlp {
  int tokens, experts, top;
  int block = 4;  // rows of one expert that are multiplied together
  int hidden = 9, inner = 5;
  // Bias of the logits: an expression of `e`, the numbers of the experts. It decides which experts are chosen.
  std::string bias = "0";
};

/// Returns the code of the routing. The logits are float32, because rounding could change their order, and so the
/// result.
inline std::string route(const RoutedMlp& m) {
  return fmt::format(
      "x = torch.randn({0}, {1}); gate = torch.randn({2}, {1}); e = torch.arange({2})\n"
      "up = torch.randn({2}, {1}, {3}); down = torch.randn({2}, {4}, {1})\n"
      "w, ids = torch.topk(torch.softmax(x.float() @ gate.float().T * 0.3 + ({5}), -1), {6})\n"
      "w = w / w.sum(-1, keepdim=True)\n",
      m.tokens, m.hidden, m.experts, 2 * m.inner, m.inner, m.bias, m.top);
}

/// Returns code that computes every expert for every token. The weight of experts that were not chosen is 0.
inline std::string dense_mlp(const RoutedMlp& m) {
  return route(m) + fmt::format(
                        "weights = (F.one_hot(ids, {0}) * w[..., None]).sum(1)\n"
                        "a, b = torch.matmul(x, up).chunk(2, -1)\n"
                        "y = torch.bmm(F.silu(a) * b, down)\n"
                        "(y * weights.T[..., None]).sum(0)\n",
                        m.experts);
}

/// Returns code with a separate matmul for each choice, as for few tokens.
inline std::string mlp_of_each(const RoutedMlp& m) {
  return route(m) + fmt::format(
                        "ids = ids.flatten()\n"
                        "rows = x[torch.arange({0}) // {1}][:, None]\n"
                        "a, b = torch.bmm(rows, up[ids]).chunk(2, -1)\n"
                        "y = torch.bmm(F.silu(a) * b, down[ids])\n"
                        "(y.view({2}, {1}, {3}) * w[..., None]).sum(1)\n",
                        m.tokens * m.top, m.top, m.tokens, m.hidden);
}

/// Returns code that lays out the choices in blocks of one expert, as vLLM's moe_align_block_size does, and computes
/// the two matmuls.
inline std::string blocks_of_experts(const RoutedMlp& m) {
  const int rows = m.tokens * m.top, blocks = std::min(rows, (rows + m.experts * (m.block - 1)) / m.block);
  return fmt::format(
      "source = torch.zeros({0}, dtype=torch.long).scatter(0, place, torch.arange({1})) // {2}\n"
      "expert = torch.bucketize(torch.arange({3}), ends, right=True).clamp(max={4} - 1)\n"
      "a, b = torch.bmm(x[source].view({3}, {5}, {6}), up[expert]).chunk(2, -1)\n"
      "y = torch.bmm(F.silu(a) * b, down[expert]).view({0}, {6})\n",
      blocks * m.block, rows, m.top, blocks, m.experts, m.block, m.hidden);
}

/// Returns code that places the choices by counting: a choice's place is its rank among those of the same expert. The
/// rows are gathered at the end.
inline std::string sorted_mlp(const RoutedMlp& m) {
  return route(m) +
         fmt::format(
             "ids = ids.flatten(); chosen = F.one_hot(ids, {0})\n"
             "rank = (torch.cumsum(chosen, 0) * chosen).sum(-1) - 1\n"
             "used = (chosen.sum(0) + {1} - 1) // {1}; ends = torch.cumsum(used, 0)\n"
             "place = (ends[ids] - used[ids]) * {1} + rank\n",
             m.experts, m.block) +
         blocks_of_experts(m) +
         fmt::format("(y[place].view({}, {}, {}) * w[..., None]).sum(1)\n", m.tokens, m.top, m.hidden);
}

/// Returns code that places the choices by sorting, and adds up the results by index_add.
inline std::string argsorted_mlp(const RoutedMlp& m) {
  return route(m) +
         fmt::format(
             "ids, order = torch.sort(ids.flatten(), stable=True)\n"
             "count = F.one_hot(ids, {0}).sum(0); used = (count + {1} - 1) // {1}\n"
             "ends = torch.cumsum(used, 0); first = torch.cumsum(count, 0) - count\n"
             "sorted_place = (ends[ids] - used[ids]) * {1} + torch.arange({2}) - first[ids]\n"
             "place = torch.zeros({2}, dtype=torch.long).scatter(0, order, sorted_place)\n",
             m.experts, m.block, m.tokens * m.top) +
         blocks_of_experts(m) +
         fmt::format(
             "weighed = y[sorted_place] * w.flatten()[order, None]\n"
             "torch.zeros({}, {}, dtype=weighed.dtype).index_add(0, order // {}, weighed)\n",
             m.tokens, m.hidden, m.top);
}

}  // namespace deplo::tests
