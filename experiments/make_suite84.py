#!/usr/bin/env python3
"""Writes suite84.yaml from the table of the published suite: make_suite84.py kernel_suite_84.tsv > suite84.yaml"""
import argparse
import re
import sys

HEAD = """\
# The published suite of 84 kernels (TinyLlama-1.1B and Qwen2.5-7B at sequence lengths 32, 128 and 512; fp32, batch 1) as
# expressions. make_suite84.py writes this file. Matmul weights are [K, N]. The mask that naive_attn adds is an input with
# random values like every other input; a mask with -inf above the diagonal would take the same time. Equal kernels
# (q_proj and o_proj, …) are tuned once.
target: auto
device: opencl
search: {strategy: default, seed: 0}
budget: {time: 3600, trials: 100, patience: 60}

kernels:
"""


def randn(shape):
    return "torch.randn(%s)" % ", ".join(map(str, shape))


def expression(op, shapes):
    """The expression of one row of the table. shapes: the shapes of its operands, in the table's order."""
    names = {
        "matmul": "ab", "matmul_add": "abr", "rmsnorm": "xw", "softmax": "x", "silu_mul": "gu",
        "silu_mul_matmul": "guw", "sdpa": "qkv", "naive_attn": "qkv",
    }[op]
    text = "; ".join("%s = %s" % (n, randn(s)) for n, s in zip(names, shapes, strict=True)) + "; "
    d = shapes[0][-1]
    if op == "naive_attn":
        text += "mask = %s; " % randn([shapes[0][2], shapes[1][2]])
    return text + {
        "matmul": "a @ b",
        "matmul_add": "a @ b + r",
        "rmsnorm": "F.rms_norm(x, (%d,), w, eps=1e-6)" % d,
        "softmax": "F.softmax(x, dim=-1)",
        "silu_mul": "F.silu(g) * u",
        "silu_mul_matmul": "(F.silu(g) * u) @ w",
        "sdpa": "F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)",
        "naive_attn": "torch.softmax(q @ k.transpose(-2, -1) / %d ** 0.5 + mask, dim=-1) @ v" % d,
    }[op]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", metavar="FILE.tsv", type=argparse.FileType(encoding="utf-8"))
    with parser.parse_args().table as table:
        sys.stdout.write(HEAD)
        next(table)
        for line in table:
            name, op, shapes = line.split("\t")[:3]
            shapes = [[int(e) for e in s.split(",")] for s in re.findall(r"\(([\d,]+)\)", shapes)]
            sys.stdout.write('  - {name: %s, expression: "%s"}\n' % (name, expression(op, shapes)))


if __name__ == "__main__":
    main()
