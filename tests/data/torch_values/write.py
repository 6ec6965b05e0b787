#!/usr/bin/env python3
"""Writes what PyTorch computes, in float64, for expressions that the expression language of deplo has too:
values.json, read by tests/torch_values.cpp. Run with any PyTorch from 2.5:  python write.py

Each case is a line of CASES. What torch.randn, rand and randint give are its inputs, by the names of the variables; they are
rounded to multiples of 1/64, which are exact in float32 and short in the file.
"""
import ast
import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

A, B = "x = torch.randn(3, 7)", "x = torch.randn(2, 3, 5)"
POSITIVE = "x = torch.rand(3, 7) + 0.25"
PAIR = "x = torch.randn(3, 7); y = torch.randn(3, 7)"
BROADCAST = "x = torch.randn(3, 1, 7); y = torch.randn(5, 1)"
ROWS = "x = torch.randn(2, 33)"
QKV = "q = torch.randn(1, 2, 7, 4); k = torch.randn(1, 2, 7, 4); v = torch.randn(1, 2, 7, 4)"
GQA = "q = torch.randn(1, 4, 7, 4); k = torch.randn(1, 2, 7, 4); v = torch.randn(1, 2, 7, 4)"
ONE = "q = torch.randn(2, 1, 1, 4); k = torch.randn(2, 1, 7, 4); v = torch.randn(2, 1, 7, 3)"
IDS = "i = torch.randint(0, 11, (2, 7)); w = torch.randn(11, 5)"

CASES = [
    # one argument
    *(f"{A}; torch.{f}(x)" for f in ("neg", "exp", "tanh", "sigmoid", "relu", "erf", "sin", "cos", "abs")),
    *(f"{POSITIVE}; torch.{f}(x)" for f in ("log", "sqrt", "rsqrt", "reciprocal")),
    f"{A}; -x", f"{A}; x.abs()", f"{A}; F.silu(x)", f"{A}; F.relu(x - 0.5)", f"{A}; F.gelu(x)",
    f"{A}; F.gelu(x, approximate='tanh')", "x = torch.randn(33) * 8; F.gelu(x)", "x = torch.randn(33) * 8; torch.erf(x)",
    "x = torch.randn(1, 1) * 20; torch.sigmoid(x)", "x = torch.randn(33) * 20; F.silu(x)",
    "x = torch.randn(33) * 30; torch.tanh(x)", "x = torch.randn(3, 7) * 100; torch.sin(x)",
    # two arguments, and broadcasting
    *(f"{PAIR}; x {op} y" for op in ("+", "-", "*")), "x = torch.randn(3, 7); y = torch.rand(3, 7); x / (y + 0.25)",
    *(f"{BROADCAST}; x {op} y" for op in ("+", "-", "*")), "x = torch.randn(7, 1); y = torch.randn(1, 33); x * y",
    f"{A}; 2 - x", f"{A}; x * 0.5 + 1", "x = torch.rand(3, 7) + 0.25; 1 / x", f"{A}; x / 3",
    "x = torch.rand(3, 7) + 0.25; y = torch.randn(3, 7); x ** y", f"{A}; x ** 2", f"{A}; x ** 3",
    "x = torch.rand(3, 7) + 0.25; x ** 0.5", "x = torch.randn(3, 7); torch.pow(x, 2)", "x = torch.rand(7) + 0.25; 2 ** x",
    f"{PAIR}; torch.maximum(x, y)", f"{PAIR}; torch.minimum(x, y)", f"{BROADCAST}; torch.maximum(x, y)",
    "i = torch.randint(-9, 9, (33,)); j = torch.randint(-9, 9, (33,)); i * j - i", "i = torch.randint(-9, 9, (7,)); i / 4",
    "i = torch.randint(-9, 9, (7,)); x = torch.randn(7); i * x", "i = torch.randint(0, 9, (7,)); i ** 2",
    # truth
    *(f"i = torch.randint(0, 3, (4, 7)); j = torch.randint(0, 3, (7,)); i {op} j" for op in ("==", "!=", "<", "<=", ">", ">=")),
    *(f"{PAIR}; x {op} 0.25" for op in ("<", ">=")),
    *(f"{PAIR}; torch.{f}(x > 0, y > 0)" for f in ("logical_and", "logical_or")), f"{A}; torch.logical_not(x > 0)",
    f"{PAIR}; torch.where(x > y, x, y)", f"{BROADCAST}; torch.where(x > 0, x, y)", f"{A}; torch.where(x > 0, x, 0.5)",
    f"{A}; x.masked_fill(x < 0, -2.5)", "x = torch.randn(3, 7, 7); y = torch.randn(7, 7); x.masked_fill(y > 0, float('-inf'))",
    # reductions
    *(f"{B}; x.{f}{arguments}" for f in ("sum", "mean", "amax", "amin")
      for arguments in ("()", "(dim=-1)", "(dim=1, keepdim=True)", "(dim=(0, 2))")),
    *(f"{B}; x.prod(dim={d})" for d in (0, -1)), f"{B}; torch.prod(x)", f"{B}; torch.sum(x, 1)", f"{B}; torch.mean(x, -1)",
    f"{B}; x.max()", f"{B}; x.min()", "x = torch.randn(1, 33); x.sum(dim=0)", "x = torch.randn(33, 1); x.mean(dim=1)",
    *(f"{B}; x.var({arguments})" for arguments in ("dim=-1", "dim=1, keepdim=True", "dim=-1, unbiased=False",
                                                   "dim=(0, 2), correction=0")), f"{B}; torch.var(x)",
    "i = torch.randint(-9, 9, (3, 7)); i.sum(dim=0)", f"{A}; (x > 0).sum()",
    # softmax and norms
    *(f"{ROWS}; F.softmax(x, dim={d})" for d in (0, 1, -1)), f"{B}; torch.softmax(x, 1)", f"{ROWS}; F.log_softmax(x, dim=-1)",
    "x = torch.randn(3, 7) * 90; F.softmax(x, dim=-1)", "x = torch.randn(3, 7) * 90; F.log_softmax(x, dim=0)",
    "x = torch.randn(3, 1); F.softmax(x, dim=-1)",
    "x = torch.randn(2, 5); F.softmax(torch.cat((x, x.masked_fill(x > -9, float('-inf'))), dim=1), dim=1)",
    f"{ROWS}; F.layer_norm(x, (33,))", f"{ROWS}; w = torch.randn(33); b = torch.randn(33); F.layer_norm(x, (33,), w, b, 1e-3)",
    f"{B}; w = torch.randn(3, 5); F.layer_norm(x, (3, 5), w)",
    f"{ROWS}; F.rms_norm(x, (33,), eps=1e-5)", f"{ROWS}; w = torch.randn(33); F.rms_norm(x, (33,), w, 1e-6)",
    f"{B}; w = torch.randn(3, 5); F.rms_norm(x, (3, 5), w, eps=0.5)",
    # products
    *(f"a = torch.randn({a}); b = torch.randn({b}); a @ b" for a, b in (
        ("7, 33", "33, 5"), ("1, 7", "7, 1"), ("33", "33"), ("3, 7", "7"), ("7", "7, 3"), ("2, 3, 5", "2, 5, 4"),
        ("2, 3, 5", "5, 4"), ("2, 1, 3, 5", "4, 5, 2"), ("5", "2, 5, 3"), ("2, 3, 5", "5"))),
    "a = torch.randn(7, 5); b = torch.randn(7, 3); a.T @ b", "a = torch.randn(2, 3, 5); b = torch.randn(2, 5, 4); torch.matmul(a, b)",
    "x = torch.randn(4, 7); w = torch.randn(3, 7); F.linear(x, w)",
    "x = torch.randn(2, 1, 33); w = torch.randn(5, 33); b = torch.randn(5); F.linear(x, w, b)",
    "x = torch.randn(7); w = torch.randn(3, 7); F.linear(x, w)",
    # attention
    *(f"{case}; F.scaled_dot_product_attention(q, k, v{arguments})" for case, arguments in (
        (QKV, ""), (QKV, ", is_causal=True"), (QKV, ", scale=0.3"), (GQA, ", is_causal=True, enable_gqa=True"), (ONE, ""))),
    f"{QKV}; m = torch.randn(7, 7); F.scaled_dot_product_attention(q, k, v, m)",
    f"{QKV}; m = torch.randn(7, 7); F.scaled_dot_product_attention(q, k, v, attn_mask=m > -0.5)",
    "q = torch.randn(2, 3, 4); k = torch.randn(2, 7, 4); v = torch.randn(2, 7, 4); F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    # by index
    f"{IDS}; F.embedding(i, w)", "i = torch.randint(0, 11, (33,)); w = torch.randn(11, 1); F.embedding(i, w)",
    "x = torch.randn(4, 7); i = torch.randint(0, 7, (4, 3)); torch.gather(x, 1, i)",
    "x = torch.randn(4, 7); i = torch.randint(0, 4, (2, 5)); torch.gather(x, 0, i)",
    # shapes
    f"{B}; x.transpose(0, 2)", f"{B}; x.transpose(-1, -2)", f"{B}; x.permute(2, 0, 1)", f"{A}; x.T", f"{A}; x.t()",
    f"{B}; x.reshape(5, 6)", f"{B}; x.view(2, -1)", f"{B}; x.reshape(-1)", f"{B}; x.flatten(1)", f"{B}; x.transpose(0, 1).reshape(10, 3)",
    f"{A}; x.unsqueeze(1)", f"{A}; x.unsqueeze(-1)", f"{A}; x[:, None]", "x = torch.randn(3, 1, 7, 1); x.squeeze(1)",
    "x = torch.randn(3, 1, 7, 1); x.squeeze()", "x = torch.randn(3, 1, 2); x.expand(3, 4, 2)", "x = torch.randn(3, 1); x.expand(2, -1, 5)",
    f"{A}; x[1]", f"{A}; x[-1, 2:5]", f"{A}; x[:, 1::2]", f"{A}; x[:2, -3:]", f"{B}; x[..., 2]", f"{B}; x[:, -1]", f"{B}; x[1, :, ::3]",
    f"{PAIR}; torch.cat((x, y), dim=0)", f"{PAIR}; torch.cat([x, y[:, :2], x], dim=-1)", f"{PAIR}; torch.stack((x, y))",
    f"{PAIR}; torch.stack([x, y], dim=-1)", f"{A}; torch.split(x, 3, dim=1)", f"{A}; x.split([1, 4, 2], dim=-1)", f"{A}; x.chunk(2, dim=-1)",
    f"{A}; a, b = x.chunk(2, dim=0); a", f"{B}; x.select(1, 2)",
    *(f"x = torch.randn(5, 7); torch.{f}(x{d})" for f in ("triu", "tril") for d in ("", ", diagonal=1", ", diagonal=-2")),
    "x = torch.randn(2, 4, 4); x.tril()", "x = torch.randn(7); x + torch.arange(7)", "x = torch.randn(3); x * torch.arange(1, 7, 2)",
    "x = torch.randn(4); x - torch.arange(7, 3, -1)", "x = torch.randn(2, 3); x + torch.full((2, 3), 0.5)",
    "x = torch.randn(2, 3); x + torch.ones(2, 3) - torch.zeros(3)", "x = torch.randn(5, 5); x + torch.triu(torch.full((5, 5), float('-inf')), diagonal=1)",
    # conversions
    *(f"x = torch.randn(33); (x * x).to(torch.{half}).to(torch.float32)" for half in ("float16", "bfloat16")),
    "x = torch.randn(33) * 9; x.to(torch.int32)", f"{A}; (x > 0).to(torch.int32)", f"{A}; (x > 0).float()",
    "i = torch.randint(-3, 3, (3, 7)); i.to(torch.bool)", "i = torch.randint(-9, 9, (7,)); i.float() / 2",
    # several together
    f"{ROWS}; w = torch.randn(33); x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w",
    f"{ROWS}; e = torch.exp(x - x.amax(dim=-1, keepdim=True)); e / e.sum(dim=-1, keepdim=True)",
    "x = torch.randn(1, 7, 6); g = torch.randn(5, 6); u = torch.randn(5, 6); d = torch.randn(6, 5); F.linear(F.silu(F.linear(x, g)) * F.linear(x, u), d) + x",
    "x = torch.randn(1, 2, 7, 4); c = torch.randn(7, 4); s = torch.randn(7, 4); x * c + torch.cat((-x[..., 2:], x[..., :2]), dim=-1) * s",
    "q = torch.randn(1, 2, 7, 4); k = torch.randn(1, 2, 7, 4); v = torch.randn(1, 2, 7, 4); m = torch.triu(torch.full((7, 7), float('-inf')), diagonal=1); F.softmax(q @ k.transpose(-1, -2) / 2 + m, dim=-1) @ v",
]
RANDOM = {"randn", "rand", "randint"}


class Inputs(ast.NodeTransformer):
    """`x = torch.randn(3) * 8` → `x = given("x", torch.randn(3)) * 8`"""

    def visit_Assign(self, node):
        for call in ast.walk(node.value):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in RANDOM:
                inner = ast.Call(call.func, call.args, call.keywords)
                call.func, call.keywords = ast.Name("given", ast.Load()), []
                call.args = [ast.Constant(node.targets[0].id), inner]
                break
        return node


def number(x):
    if isinstance(x, float):
        return x if math.isfinite(x) else str(x)
    return int(x)


def tensor(t):
    return {"shape": list(t.shape), "values": [number(x) for x in t.flatten().tolist()]}


def run(code):
    inputs = {}

    def given(name, t):
        t = torch.round(t * 64) / 64 if t.is_floating_point() else t
        inputs[name] = tensor(t)
        return t

    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    names = {"torch": torch, "F": F, "nn": nn, "given": given}
    exec(compile(ast.fix_missing_locations(Inputs().visit(tree)), code, "exec"), names)
    value = eval(compile(last, code, "eval"), names)
    outputs = value if isinstance(value, (tuple, list)) else (value,)
    return {"code": code, "inputs": inputs, "outputs": [tensor(t) for t in outputs]}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    torch.Tensor.float = torch.Tensor.double  # all floats here are of 64 bits
    cases = [run(code) for code in CASES]
    lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
    pathlib.Path(__file__).with_name("values.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
