#!/usr/bin/env python3
"""Writes routed_mlp.yaml: make_routed_mlp.py > routed_mlp.yaml. baselines/torch_routed_mlp.py uses the same rows."""
import sys

HEAD = """\
# Routed MLPs (mixtures of experts) in the sizes of two models, in f32. make_routed_mlp.py writes this file. If there are
# few tokens, each token has its own matmuls. If there are more, rows are sorted by expert and padded to blocks, as vLLM's
# moe_align_block_size does. Names end in the number of tokens. The logits are scaled like those of weights of that size.
# Without the scale, one expert would get all tokens.
target: auto
device: opencl
search: {strategy: default, seed: 0}
budget: {time: 3600, trials: 60, patience: 40}

kernels:
"""

# Hidden size, intermediate size of an expert, number of experts, experts per token.
MODELS = {"qwen1.5-moe-a2.7b": (2048, 1408, 60, 4), "qwen3-30b-a3b": (2048, 768, 128, 8)}
# Number of tokens: rows of a block. The rows were chosen by measurements on CPUs: short blocks have few empty rows, and
# neighbouring blocks of one expert find its weights in the cache. 0: no blocks.
BLOCKS = {1: 0, 32: 8, 128: 8, 512: 8}

ROUTE = """\
x = torch.randn({tokens}, {hidden}); gate = torch.randn({experts}, {hidden})
up = torch.randn({experts}, {hidden}, {both}); down = torch.randn({experts}, {inner}, {hidden})
p, ids = torch.topk(torch.softmax(x @ gate.T * {scale}, dim=-1), {top})
w = p / p.sum(-1, keepdim=True)
ids = ids.flatten()
"""
EACH = """\
rows = x[torch.arange({rows}) // {top}].view({rows}, 1, {hidden})
a, b = torch.bmm(rows, up[ids]).chunk(2, -1)
y = torch.bmm(F.silu(a) * b, down[ids])
(y.view({tokens}, {top}, {hidden}) * w[..., None]).sum(1)
"""
SORTED = """\
chosen = F.one_hot(ids, {experts})
rank = (torch.cumsum(chosen, 0) * chosen).sum(-1) - 1
used = (chosen.sum(0) + {block} - 1) // {block}
ends = torch.cumsum(used, 0)
place = (ends[ids] - used[ids]) * {block} + rank
source = torch.zeros({padded}, dtype=torch.long).scatter(0, place, torch.arange({rows})) // {top}
expert = torch.bucketize(torch.arange({blocks}), ends, right=True).clamp(max={experts} - 1)
a, b = torch.bmm(x[source].view({blocks}, {block}, {hidden}), up[expert]).chunk(2, -1)
y = torch.bmm(F.silu(a) * b, down[expert]).view({padded}, {hidden})
(y[place].view({tokens}, {top}, {hidden}) * w[..., None]).sum(1)
"""


def expression(model, tokens, block):
    hidden, inner, experts, top = MODELS[model]
    rows = tokens * top
    # The last block of an expert lacks at most block - 1 rows; no block is empty.
    blocks = min(rows, (rows + experts * (block - 1)) // block) if block else 0
    text = ROUTE + (SORTED if block else EACH)
    return text.format(tokens=tokens, hidden=hidden, inner=inner, both=2 * inner, experts=experts, top=top, rows=rows, block=block,
                       blocks=blocks, padded=blocks * block, scale=round(hidden ** -0.5, 6))


def entries():
    return {"%s.%d" % (model, tokens): expression(model, tokens, block) for model in MODELS for tokens, block in BLOCKS.items()}


def main():
    sys.stdout.write(HEAD)
    for name, text in entries().items():
        sys.stdout.write("  - name: %s\n    expression: |\n" % name)
        sys.stdout.write("".join("      %s\n" % line for line in text.splitlines()))


if __name__ == "__main__":
    main()
