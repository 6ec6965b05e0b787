#!/usr/bin/env python3
"""Times every module of a folder in comparison with PyTorch: a table for any folder in KernelBench's form.

    python3 experiments/module_times.py FOLDER --output FILE.jsonl [--only 'resnet*'] [--tuned STORE] [--time 1]

A file has a class Model and the functions get_inputs and get_init_inputs. The columns of the table are: the number of
deplo's kernels; whether deplo's outputs are right (compared with its own reference in double); the microseconds of deplo,
of PyTorch eager and of torch.compile; eager's time divided by deplo's; and the share of the machine's bound that deplo
reaches. The bound is the time of the arithmetic or the bytes that no schedule of the kernels avoids, at the highest
measured rates; the share is this time divided by deplo's.
deplo's time is the sum of its kernels, each with cold operands. PyTorch's time is the median of calls of up to 64 copies of
the module and its inputs in turns, so that these also come from memory; intermediate tensors stay in the caches.
Rounds alternate between the two, and the table has the medians of the rounds.

Each file becomes one line of JSON in --output. A file that is already there is not measured again. Needs PyTorch.
"""
import argparse
import copy
import fnmatch
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

ROUNDS = 3  # of deplo and PyTorch in turns
SECONDS = 1.0  # of PyTorch in each round
COLD_BYTES = 128 << 20  # of all copies of a module and its inputs: more than last-level caches hold


def deplo(options, command, file):
    flags = ["--file", str(file), "--init", "get_init_inputs", "--device", options.device, "--json"]
    flags += ["--tuned", str(options.tuned)] if options.tuned else []
    flags += ["--no-measure"] if command == "run" else ["--time", str(options.time)] if options.time else []
    done = subprocess.run([options.deplo, command, *flags], capture_output=True, text=True, timeout=options.limit)
    if not done.stdout.strip():
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return json.loads(done.stdout)


def cold_copies(model, inputs):
    """Pairs of a module and its inputs: at most 64. The first is the given pair."""
    tensors = [*model.parameters(), *model.buffers(), *(x for x in inputs if hasattr(x, "element_size"))]
    size = sum(t.numel() * t.element_size() for t in tensors)
    count = min(64, max(2, math.ceil(COLD_BYTES / max(size, 1))))
    return [(model, inputs), *(copy.deepcopy((model, inputs)) for _ in range(count - 1))]


def median_us(calls):
    import torch

    times = []
    with torch.no_grad():
        for call in calls:
            call()
        begin = time.perf_counter()
        for call in itertools.cycle(calls):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
            if len(times) >= 5 and time.perf_counter() - begin >= SECONDS:
                break
    return 1e6 * statistics.median(times)


def torch_model(file):
    import torch

    torch.manual_seed(0)
    names = {"__name__": file.stem}
    exec(compile(file.read_text(), file, "exec"), names)
    return names["Model"](*names["get_init_inputs"]()).eval(), names["get_inputs"]()


def compiled_us(copies):
    import torch

    try:
        # A module is compiled once; the copies' inputs are cold, its parameters are not.
        compiled = torch.compile(copies[0][0])
        return median_us([lambda inputs=inputs: compiled(*inputs) for _, inputs in copies])
    except Exception as failure:  # no compiler here, or an operation that it lacks
        print(f"  torch.compile: {str(failure).strip().splitlines()[0][:100]}", file=sys.stderr)
        return None


def measure(options, file):
    right = deplo(options, "run", file)["right"]
    model, inputs = torch_model(file)
    copies = cold_copies(model, inputs)
    ours, eager = [], []
    for _ in range(ROUNDS):
        eager.append(median_us([lambda pair=pair: pair[0](*pair[1]) for pair in copies]))
        bench = deplo(options, "bench", file)
        if bench["ours_us"] is None:
            raise RuntimeError(next(kernel["failure"] for kernel in bench["kernels"] if "failure" in kernel))
        ours.append(bench["ours_us"])
    bound = sum(kernel["bound_us"] or 0 for kernel in bench["kernels"])  # null if no bound is certain
    return {"file": file.stem, "kernels": len(bench["kernels"]), "right": right, "deplo_us": statistics.median(ours),
            "eager_us": statistics.median(eager), "compile_us": compiled_us(copies),
            "bound_us": bound or None, "device": bench["device"], "target": bench["target"],
            "tuned": bench["tuned"]}


def line(r):
    if "failure" in r:
        return f"{r['file'][:28]:30}{r['failure'][:88]}"
    number = lambda value: "-" if value is None else f"{value:.0f}"
    share = "-" if not r["bound_us"] else f"{r['bound_us'] / r['deplo_us']:.2f}"
    return (f"{r['file'][:28]:30}{r['kernels']:>7}{'right' if r['right'] else 'WRONG':>7}{number(r['deplo_us']):>10}"
            f"{number(r['eager_us']):>10}{number(r['compile_us']):>11}{r['eager_us'] / r['deplo_us']:>13.2f}{share:>8}")


def summary(results):
    timed = [r for r in results if "failure" not in r]
    right = [r for r in timed if r["right"]]
    text = f"{len(right)} of {len(results)} run and are right"
    for name, other in (("eager", "eager_us"), ("torch.compile", "compile_us")):
        ratios = [r[other] / r["deplo_us"] for r in right if r[other]]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            text += f"; {name} / deplo {mean:.2f} in geometric mean of {len(ratios)}"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="results, a JSON line for each file")
    parser.add_argument("--deplo", default="build/release/bin/deplo")
    parser.add_argument("--device", default="opencl", help="device, as for deplo bench")
    parser.add_argument("--tuned", type=pathlib.Path, help="a store with tuned schedules")
    parser.add_argument("--only", default="*", help="names by glob")
    parser.add_argument("--time", type=float, help="seconds for each kernel, as for deplo bench [its default]")
    parser.add_argument("--threads", type=int, help="PyTorch's threads [its default]")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each command of deplo")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("module_times.py: expected PyTorch, which is not installed here (pip install torch)")
    if options.threads:
        torch.set_num_threads(options.threads)
    files = [f for f in sorted(options.folder.glob("*.py")) if fnmatch.fnmatch(f.stem, options.only)]
    if not files:
        sys.exit(f"module_times.py: expected .py files in {options.folder} that match '{options.only}', found none")
    known = {}
    if options.output.exists():
        known = {r["file"]: r for r in map(json.loads, options.output.read_text().splitlines())}
    print(f"{'file':30}{'kernels':>7}{'':>7}{'deplo us':>10}{'eager us':>10}{'compile us':>11}{'eager/deplo':>13}{'bound':>8}")
    results = []
    for file in files:
        if file.stem not in known:
            try:
                known[file.stem] = measure(options, file)
            except Exception as failure:
                known[file.stem] = {"file": file.stem, "failure": (str(failure).strip() or repr(failure)).splitlines()[0]}
            with options.output.open("a") as out:
                out.write(json.dumps(known[file.stem]) + "\n")
        results.append(known[file.stem])
        print(line(results[-1]), flush=True)
    print(summary(results))
    return 0 if all(r.get("right") for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
