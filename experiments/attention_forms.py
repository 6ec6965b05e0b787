#!/usr/bin/env python3
"""Compares the kernels that tuning chooses for attentions with --attention fused and --attention split.

    attention_forms.py [--deplo PROGRAM] [--time SECONDS] [--rounds N] [--device DEVICE] [--dtype TYPE] [--store FILE]

Each of 16 attentions is tuned once, which also tunes the kernels of both forms. Then the tuned graph and the two forms are
each timed as a whole, one after the other in each round. The table has the medians in µs, and the ratio of the tuned
graph's time to that of the faster form. If it is above 1, a form is faster than the choice of tuning.
"""
import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HEADS = [(8, 8), (8, 2)]  # of queries, and of keys
LENGTHS = [(1, 2048), (1, 16384), (128, 128), (512, 512)]  # queries, keys
HEAD_DIMS = [64, 128]
FORMS = {"tuned": [], "fused": ["--attention", "fused"], "split": ["--attention", "split"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deplo", default="deplo")
    parser.add_argument("--time", type=float, default=120, help="seconds of tuning for each attention [120]")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds [5]")
    parser.add_argument("--device", default="opencl")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--store", help="keep the measurements in FILE; the next call continues from there")
    return parser.parse_args()


def expression(heads, lengths, dim):
    (queries, keys), (rows, columns) = heads, lengths
    gqa = ", enable_gqa=True" if queries != keys else ""
    return (f"q = torch.randn(1, {queries}, {rows}, {dim}); k = torch.randn(1, {keys}, {columns}, {dim}); "
            f"v = torch.randn(1, {keys}, {columns}, {dim}); F.scaled_dot_product_attention(q, k, v{gqa})")


def run(options, command):
    ran = subprocess.run([options.deplo, *command, "--json"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def tune(options, name, code, folder, store):
    """The decisions that tuning chooses."""
    experiment = {"device": options.device, "dtype": options.dtype, "budget": {"time": options.time},
                  "kernels": [{"name": name, "expression": code}]}
    config = Path(folder) / "attention.yaml"
    config.write_text(json.dumps(experiment))
    graphs = run(options, ["tune", "--config", str(config), "--store", store, "--quiet"])["graphs"]
    return graphs[0]["trail"] if graphs else "no decision"


def whole_us(options, code, store, flags):
    command = ["run", "-c", code, "--dtype", options.dtype, "--device", options.device, "--tuned", store, "--whole"]
    return run(options, command + flags)["microseconds"]


def compare(options, code, store):
    times = {form: [] for form in FORMS}
    for _ in range(options.rounds):
        for form, flags in FORMS.items():
            times[form].append(whole_us(options, code, store, flags))
    return {form: statistics.median(all_times) for form, all_times in times.items()}


def main():
    options = arguments()
    print(f"{'heads':>6} {'queries':>8} {'keys':>6} {'D':>4} {'tuned':>10} {'fused':>10} {'split':>10} {'ratio':>6}  choice")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or str(Path(folder) / "attention.db")
        for heads, lengths, dim in itertools.product(HEADS, LENGTHS, HEAD_DIMS):
            code = expression(heads, lengths, dim)
            name = "attention.h{}-{}.q{}.k{}.d{}".format(*heads, *lengths, dim)
            trail = tune(options, name, code, folder, store)
            us = compare(options, code, store)
            ratios.append(us["tuned"] / min(us["fused"], us["split"]))
            print(f"{heads[0]:>3}/{heads[1]:<2} {lengths[0]:>8} {lengths[1]:>6} {dim:>4} {us['tuned']:>10.1f} "
                  f"{us['fused']:>10.1f} {us['split']:>10.1f} {ratios[-1]:>6.2f}  {trail}", flush=True)
    print(f"geometric mean of the ratios {statistics.geometric_mean(ratios):.3f}, the largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
