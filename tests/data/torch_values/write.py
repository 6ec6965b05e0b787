#!/usr/bin/env python3
"""Computes by PyTorch, in float64, what is missing in values.json: expressions that the expression language of deplo has
too, read by tests/torch_values.cpp. Run with any PyTorch from 2.5:  python write.py

A case is a line of values.json, which begins as {"code":"x = torch.randn(3, 7); torch.exp(x)"}. What torch.randn, rand and
randint give are its inputs, by the names of the variables; they are rounded to multiples of 1/64, which are exact in
float32 and short in the file. A case that has outputs stays as it is.
"""
import ast
import json
import math
import pathlib
import zlib

import torch
import torch.nn.functional as F
from torch import nn

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
    torch.manual_seed(zlib.crc32(code.encode()))
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
    torch.Tensor.float = torch.Tensor.double  # all floats here are of 64 bits
    file = pathlib.Path(__file__).with_name("values.json")
    cases = [case if "outputs" in case else run(case["code"]) for case in json.loads(file.read_text())]
    lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
    file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
