#!/usr/bin/env python3
"""PyTorch eager on the rows of routed_mlp.yaml, in f32 on a CPU: the same expression, and a loop over experts as Hugging
Face's models write it, with weights as they are there (loop_linear: [out, in]) and as in the expression (loop: [in, out]).
With --deplo each row is also measured by `PROGRAM run --whole`. Samples alternate; medians, in milliseconds.

  torch_routed_mlp.py [--only REGEX] [--deplo PROGRAM [--store FILE]] [--output FILE.jsonl]"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import make_routed_mlp  # noqa: E402


def split(text):
    """The statements that draw operands, the others, and the last expression."""
    lines = [s for line in text.splitlines() for s in line.split("; ")]
    drawn = [s for s in lines if "torch.randn(" in s]
    return drawn, [s for s in lines[:-1] if s not in drawn], lines[-1]


def function_of(text):
    _, statements, result = split(text)
    body = "".join("    %s\n" % s for s in statements)
    scope = {"torch": torch, "F": F}
    exec("def same(x, gate, up, down):\n%s    return %s\n" % (body, result), scope)  # noqa: S102: our own file
    return scope["same"]


def loop_over_experts(top, linear):
    def loop(x, gate, up, down):
        p, ids = torch.topk(torch.softmax(x @ gate.T * round(x.shape[1] ** -0.5, 6), dim=-1), top)
        w = p / p.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        chosen = F.one_hot(ids, up.shape[0]).permute(2, 1, 0)
        for expert in (chosen.sum((-1, -2)) > 0).nonzero().flatten().tolist():
            k, token = torch.where(chosen[expert])
            h = F.linear(x[token], up[expert]) if linear else x[token] @ up[expert]
            a, b = h.chunk(2, -1)
            h = F.silu(a) * b
            y = F.linear(h, down[expert]) if linear else h @ down[expert]
            out.index_add_(0, token, y * w[token, k, None])
        return out
    return loop


def measure(functions, operands, seconds):
    samples = {name: [] for name in functions}
    for name, function in functions.items():  # warm
        function(*operands[name])
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(next(iter(samples.values()))) < 5:
        for name, function in functions.items():
            start = time.perf_counter()
            function(*operands[name])
            samples[name].append(1000 * (time.perf_counter() - start))
    return {name: statistics.median(s) for name, s in samples.items()}


def ours(program, store, text):
    command = [program, "run", "--whole", "--json", "-c", text] + (["--tuned", store] if store else [])
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit("%s: %s" % (program, (ran.stderr or ran.stdout).strip()))
    report = json.loads(ran.stdout)
    return {"ours": report["microseconds"] / 1000, "kernels": len(report["kernels"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name matches")
    parser.add_argument("--seconds", type=float, default=10, help="of samples for each row; five rounds always run [10]")
    parser.add_argument("--deplo", metavar="PROGRAM")
    parser.add_argument("--store", metavar="FILE")
    parser.add_argument("--output", metavar="FILE", help="one JSON object for each row is written there")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    lines = []
    for name, text in make_routed_mlp.entries().items():
        if not re.search(args.only, name):
            continue
        scope = {"torch": torch}
        for statement in split(text)[0]:
            exec(statement, scope)  # noqa: S102: our own file
        given = [scope[n] for n in ("x", "gate", "up", "down")]
        top = make_routed_mlp.MODELS[name.rsplit(".", 1)[0]][3]
        functions = {"eager": function_of(text), "loop": loop_over_experts(top, False), "loop_linear": loop_over_experts(top, True)}
        operands = {n: given for n in functions}
        operands["loop_linear"] = given[:2] + [t.mT.contiguous() for t in given[2:]]
        results = {n: f(*operands[n]) for n, f in functions.items()}
        for other in ("loop", "loop_linear"):
            torch.testing.assert_close(results["eager"], results[other], rtol=1e-3, atol=1e-3 * results["eager"].abs().max().item())
        row = {"name": name, "threads": torch.get_num_threads(), "version": torch.__version__,
               **measure(functions, operands, args.seconds)}
        del scope, given, operands, results
        if args.deplo:
            row.update(ours(args.deplo, args.store, text))
            row["best_over_ours"] = min(row["eager"], row["loop"], row["loop_linear"]) / row["ours"]
        lines.append(row)
        print(" ".join("%s=%s" % (k, "%.4g" % v if isinstance(v, float) else v) for k, v in row.items()), flush=True)
    if args.output:
        pathlib.Path(args.output).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
