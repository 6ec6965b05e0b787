#!/usr/bin/env python3
"""Computes by PyTorch what is missing in values.json and special.json: expressions that the expression language of deplo
has too, read by tests/torch_values.cpp. Run with any PyTorch from 2.5:  python write.py

A case is a line, which begins as {"code":"x = torch.randn(3, 7); torch.exp(x)"}. What torch.randn, rand and randint give
are its inputs, by the names of the variables; they are rounded to multiples of 1/64, which are exact in float32 and short
in the file. A case that has outputs stays as it is. values.json is computed in float64. Complex tensors are written as torch.view_as_real
shows them.

special.json is computed in the case's "dtype", so that infinities and NaN arise where they do in PyTorch. A part of what
torch.randn gives there becomes NaN, infinities and zeros. Its attentions are those of PyTorch's operations: the fused one of
CPUs (2.15) gives 0 for a query whose scores are NaN.
"""
import ast
import contextlib
import json
import math
import pathlib
import zlib

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

RANDOM = {"randn", "rand", "randint"}
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0]


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


def number(x, digits):
    if isinstance(x, float):
        return float(f"{x:.{digits}g}") if math.isfinite(x) else str(x)
    return int(x)


def tensor(t):
    if t.is_complex():
        return tensor(torch.view_as_real(t.resolve_conj()))
    digits = 17 if t.dtype == torch.float64 else 9
    return {"shape": list(t.shape), "values": [number(x, digits) for x in t.flatten().tolist()]}


def with_specials(t):
    """A quarter of every second row, so that some rows have none."""
    rows = t.clone()
    for row in rows.reshape(-1, t.shape[-1])[::2]:
        for i in range(t.shape[-1]):
            if torch.rand(()) < 0.25:
                row[i] = SPECIAL[int(torch.randint(0, len(SPECIAL), ()))]
    return rows


def run(code, dtype=None):
    torch.manual_seed(zlib.crc32(code.encode()))
    torch.set_default_dtype(DTYPES[dtype] if dtype else torch.float64)
    inputs = {}

    def given(name, t):
        if t.is_complex():
            t = torch.view_as_complex(torch.round(torch.view_as_real(t) * 64) / 64)
        t = torch.round(t * 64) / 64 if t.is_floating_point() else t
        if dtype and t.is_floating_point() and not name.startswith("finite"):
            t = with_specials(t)
        inputs[name] = tensor(t)
        return t

    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    names = {"torch": torch, "F": F, "nn": nn, "given": given}
    exec(compile(ast.fix_missing_locations(Inputs().visit(tree)), code, "exec"), names)
    with sdpa_kernel(SDPBackend.MATH) if dtype else contextlib.nullcontext():
        value = eval(compile(last, code, "eval"), names)
    outputs = value if isinstance(value, (tuple, list)) else (value,)
    head = {"code": code, "dtype": dtype} if dtype else {"code": code}
    return {**head, "inputs": inputs, "outputs": [tensor(t) for t in outputs]}


def main():
    torch.Tensor.float = torch.Tensor.double  # in values.json, where all floats are of 64 bits
    torch.Tensor.cfloat = torch.Tensor.cdouble
    torch.cfloat = torch.complex64 = torch.complex128
    for name in ["values.json", "special.json"]:
        file = pathlib.Path(__file__).with_name(name)
        cases = json.loads(file.read_text())
        cases = [case if "outputs" in case else run(case["code"], case.get("dtype")) for case in cases]
        lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
        file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
