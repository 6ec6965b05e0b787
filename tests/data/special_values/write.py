#!/usr/bin/env python3
"""Draws expressions over special numbers and adversarial shapes, and has PyTorch compute them in their dtype.

    python write.py                      # writes values.json, with the seed and the counts below
    python write.py --seed 7 --cases 2000 --to more.json    # any number of other cases

tests/apps/run/special_values_test.cpp takes every .json file in this folder. An input is a palette of numbers and a
seed: a generator that the test has, too, draws from the palette. So a long input takes one line. Outputs have at most
40 elements. values.json was written with PyTorch 2.15.
"""
import argparse
import json
import pathlib
import random

import numpy as np
import torch
import torch.nn.functional as F

SEED, CASES = 36, 300

INF, NAN = float("inf"), float("nan")
LARGEST = {"f32": 3.4028234663852886e38, "f16": 65504.0, "bf16": 3.3895313892515355e38}
LEAST_NORMAL = {"f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}
LEAST = {"f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int64}


def palettes():
    """Numbers that each dtype holds exactly, by name."""
    found = {}
    for d in LARGEST:
        most, normal, least = LARGEST[d], LEAST_NORMAL[d], LEAST[d]
        usual = [1.0, -1.0, 0.5, -2.0, 3.0, -0.75, 2.5, -1.5, 0.125, 4.0]
        zeros = [0.0, -0.0]
        found[f"{d} usual"] = usual
        found[f"{d} zeros"] = zeros + usual[:4]
        found[f"{d} subnormal"] = zeros + [least, -least, 3 * least, normal / 2, -normal / 2, normal, -normal, 1.0]
        found[f"{d} large"] = [most, -most, most / 2, -most / 2, most / 4, 1.0, -1.0]
        found[f"{d} infinite"] = usual[:6] + [INF, -INF]
        found[f"{d} nan"] = usual[:8] + [NAN]
        found[f"{d} all"] = usual + zeros + [least, -normal / 2, most, -most, INF, -INF, NAN]
        found[f"{d} constant"] = [0.75]
    found["f32 far"] = [1024.25, 1024.5, 1023.75, 1025.0]
    found["i32 usual"] = [0, 1, -1, 2, 7, -5, 31]
    found["i32 extreme"] = [0, 1, -1, 2**31 - 1, -(2**31), 2**24 + 1, -(2**24) - 1, 12345]
    return found


PALETTES = palettes()


def values(palette, seed, count):
    """The numbers of an input: steps of a linear congruential generator (Knuth's MMIX) choose them."""
    numbers, state, out = PALETTES[palette], seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(numbers[(state >> 33) % len(numbers)])
    return out


UNARY = ["torch.exp({})", "torch.log({})", "torch.sqrt({})", "torch.rsqrt({})", "torch.tanh({})", "torch.sigmoid({})",
         "torch.erf({})", "torch.abs({})", "-({})", "torch.reciprocal({})", "F.relu({})", "F.silu({})", "F.gelu({})",
         "({})**2", "({})**3", "({})**0.5", "({})**-1", "({})*2/2", "({})*0.5", "({})+1", "1-({})", "({})*1e5",
         "({})*1e-5",
         "torch.clamp({}, min=0)", "torch.clamp({}, max=1.5)", "torch.clamp({}, -1, 1)", "torch.log(torch.exp({}))",
         "torch.log(torch.sigmoid({}))", "torch.exp(({})*100)", "1/torch.clamp({}, min=0)"]
BINARY = ["({}) + ({})", "({}) - ({})", "({}) * ({})", "({}) / ({})", "torch.maximum({}, {})", "torch.minimum({}, {})"]
TRUTH = ["({}) < ({})", "({}) <= ({})", "({}) == ({})", "({}) != ({})"]
REDUCE = ["({}).sum({d})", "({}).mean({d})", "torch.amax({}, {d})", "torch.amin({}, {d})", "({}).prod({d})",
          "({}).var({d})", "torch.logsumexp({}, {d})"]
ALONG = ["F.softmax({}, {d})", "F.log_softmax({}, {d})", "torch.cumsum({}, {d})"]
NORM = ["F.layer_norm({}, ({n},))", "F.rms_norm({}, ({n},), eps=1e-6)"]
INTEGER = ["torch.maximum({}, {})", "torch.minimum({}, {})", "torch.where(({}) < ({}), 1, 0)", "(({}) == ({}))"]
INTEGER_UNARY = ["torch.clamp({}, -5, 100)", "({}) % 10", "({}) // 7", "({}).float()", "(({}) == 16777217)",
                 "torch.clamp({}, min=0)"]


class Case:
    def __init__(self, draw):
        self.draw = draw
        self.dtype = draw.choice(["f32"] * 6 + ["f16", "bf16", "i32"])
        self.inputs = {}

    def tensor(self, name, shape):
        palettes = [p for p in PALETTES if p.startswith(self.dtype + " ")]
        palette = self.draw.choice(palettes)
        make = "torch.randn" if self.dtype != "i32" else "torch.randint"
        size = ", ".join(map(str, shape))
        self.inputs[name] = {"shape": shape, "palette": palette, "seed": self.draw.randrange(2**31)}
        call = f"{make}({size})" if make == "torch.randn" else f"{make}(0, 9, ({size},))"
        return f"{name} = {call}; "

    def integers(self):
        shape = self.draw.choice([[17], [1], [3, 5], [2, 13]])
        lines = self.tensor("x", shape) + self.tensor("y", shape)
        e = self.draw.choice(INTEGER_UNARY).format("x")
        if self.draw.random() < 0.7:
            e = self.draw.choice(INTEGER).format("x", "y")
        elif self.draw.random() < 0.4:
            e = self.draw.choice(["torch.amax(x, -1)", "torch.amin(x, -1)"])
        return lines + e

    def code(self):
        if self.dtype == "i32":
            return self.integers()
        kind = self.draw.choice(["elements"] * 3 + ["reduce"] * 2 + ["long", "along", "norm", "matmul"])
        if kind == "long":
            return self.long()
        if kind == "matmul":
            k = self.draw.choice([1, 7, 64, 1009])
            return self.tensor("x", [3, k]) + self.tensor("y", [k, 2]) + "x @ y"
        shape = self.draw.choice([[17], [1], [3, 5], [2, 13], [2, 1, 9], [31]])
        if kind == "norm":
            shape = self.draw.choice([[2, 16], [3, 7], [1, 31]])
        lines = self.tensor("x", shape)
        e = "x"
        if kind == "elements" or self.draw.random() < 0.5:
            e = self.draw.choice(UNARY).format(e)
        if kind == "elements" and self.draw.random() < 0.5:
            lines += self.tensor("y", shape)
            e = self.draw.choice(BINARY + (TRUTH if self.draw.random() < 0.3 else [])).format(e, "y")
        if kind == "elements" and self.draw.random() < 0.3 and "<" not in e and "=" not in e:
            e = self.draw.choice(UNARY).format(e)
        d = self.draw.randrange(len(shape))
        if kind == "reduce":
            e = self.draw.choice(REDUCE).format(e, d=d)
        if kind == "along":
            e = self.draw.choice(ALONG).format(e, d=d)
        if kind == "norm":
            e = self.draw.choice(NORM).format(e, n=shape[-1])
        return lines + e

    def long(self):
        """Contiguous, strided, expanded: few results of many elements each."""
        n = self.draw.choice([4099, 20011, 65536])
        forms = [("x", [2, n], 1), ("x", [n, 3], 0), ("x", [n], 0), (f"x.expand(3, {n})", [3, 1], 1)]
        e, shape, d = self.draw.choice(forms)
        if self.draw.random() < 0.3:
            e = self.draw.choice(["({})*0.5", "torch.abs({})", "({})**2", "torch.exp({})"]).format(e)
        return self.tensor("x", shape) + self.draw.choice(REDUCE).format(e, d=d)


def number(x):
    if isinstance(x, bool) or isinstance(x, int):
        return int(x)
    return x if np.isfinite(x) else str(x)


def compute(code, dtype, inputs):
    torch.set_default_dtype(DTYPES[dtype] if dtype != "i32" else torch.float32)
    names = {"torch": torch, "F": F}
    for name, given in inputs.items():
        count = int(np.prod(given["shape"]))
        wide = torch.int64 if dtype == "i32" else torch.float64
        t = torch.tensor(values(given["palette"], given["seed"], count), dtype=wide)
        names[name] = t.to(DTYPES[dtype]).reshape(given["shape"])
    result = eval(code.split("; ")[-1], names)
    numbers = result.to(torch.float64) if result.is_floating_point() else result
    if dtype == "i32" and result.dtype == torch.int64 and (result.abs() > 2**31 - 1).any() and result.min() < -(2**31):
        return None
    # The shortest text of an f32 is enough for each dtype.
    flat = [float(np.format_float_scientific(np.float32(x), trim="-")) if result.is_floating_point() else int(x)
            for x in numbers.flatten().tolist()]
    return {"shape": list(result.shape), "values": [number(x) for x in flat]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--to", default=str(pathlib.Path(__file__).with_name("values.json")))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.cases} cases, PyTorch {torch.__version__}")
    torch.set_num_threads(1)
    cases, number_of_case = [], 0
    while len(cases) < options.cases:
        case = Case(random.Random(f"{options.seed} {number_of_case}"))
        number_of_case += 1
        code = case.code()
        output = compute(code, case.dtype, case.inputs)
        if output is None or not 0 < len(output["values"]) <= 40:
            continue
        cases.append({"code": code, "dtype": case.dtype, "inputs": case.inputs, "output": output})
    texts = {name: [str(number(x)) if x == x and abs(x) != INF else str(x) for x in numbers]
             for name, numbers in PALETTES.items()}
    lines = [json.dumps(c, separators=(",", ":")) for c in cases]
    with open(options.to, "w") as to:
        to.write('{"seed":%d,"palettes":%s,\n"cases":[\n' % (options.seed, json.dumps(texts)))
        to.write(",\n".join(lines) + "\n]}\n")


main()
