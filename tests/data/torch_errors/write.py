"""Writes errors.json: how far PyTorch's f32 results on a CPU are off, over the root mean square of the outputs.

    OMP_NUM_THREADS=1 python write.py > errors.json

An error is the greatest over some seeds. Inputs are f32; the expected values are computed from them in f64.
"""
import json
import math

import torch
import torch.nn.functional as F  # used by the code of the cases

FILLS = {"uniform": lambda shape, a, b: torch.rand(shape) * (b - a) + a,
         "normal": lambda shape, a, b: torch.randn(shape) * b + a,
         "constant": lambda shape, a: torch.full(shape, a)}

CASES = []
for n in (1000, 10007, 1000000):
    for fill in (("uniform", 0, 1), ("normal", 0, 1), ("constant", 0.1)):
        CASES.append((f"x = torch.randn(3, {n}); x.sum(-1)", (3, n), fill))
        CASES.append((f"x = torch.randn({n}, 5); x.sum(0)", (n, 5), fill))
    CASES.append((f"x = torch.randn(5, 1); x.expand(5, {n}).sum(-1)", (5, 1), ("uniform", 0, 1)))
    CASES.append((f"x = torch.randn({n}, 2); (x < 2).float().mean(0)", (n, 2), ("uniform", 0, 1)))
    CASES.append((f"x = torch.randn({n}, 3); (x * x).sum(0).sqrt()", (n, 3), ("normal", 0, 1)))
    CASES.append((f"x = torch.randn(2, {n}); torch.logsumexp(x, -1)", (2, n), ("normal", 0, 1)))
    CASES.append((f"x = torch.randn(2, {n}); F.softmax(x, -1)", (2, n), ("normal", 0, 1)))
    CASES.append((f"x = torch.randn({n}, 2); F.softmax(x, 0)", (n, 2), ("uniform", 0, 1)))
    for fill in (("uniform", 0, 1), ("normal", 1000, 1), ("normal", 1e6, 1), ("constant", 1234.567)):
        CASES.append((f"x = torch.randn({n}, 4); x.var(0)", (n, 4), fill))
        CASES.append((f"x = torch.randn(2, {n}); x.std(-1)", (2, n), fill))
        CASES.append((f"x = torch.randn(2, {n}); F.layer_norm(x, ({n},))", (2, n), fill))


def error(code, shape, fill):
    worst = 0
    for seed in range(3):
        torch.manual_seed(seed)
        x = FILLS[fill[0]](shape, *fill[1:]).float()
        expression = code.split("; ")[1]
        found = eval(expression, {"x": x, "torch": torch, "F": F}).double()
        wide = expression.replace(".float()", ".double()")
        expected = eval(wide, {"x": x.double(), "torch": torch, "F": F})
        scale = math.sqrt((expected ** 2).mean().item()) or 1
        worst = max(worst, (found - expected).abs().max().item() / scale)
    return worst


rows = [{"code": code, "fill": list(fill), "error": error(code, shape, fill)} for code, shape, fill in CASES]
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
