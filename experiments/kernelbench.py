#!/usr/bin/env python3
"""Runs the problems of a KernelBench folder in reduced sizes and says which are right.

    python3 experiments/kernelbench.py ../shared/kernelbench/level1 [--deplo build/release/bin/deplo] [--only '5*']

Every constant at the top of a file becomes small (`--set`): batches 2, channels at most 16, other sizes at most 24.
deplo compares each output with its reference in double, which tests/data/torch_values compares with PyTorch. Prints a
line for each problem and a count. Needs Python only.

With `--export FOLDER` it writes each problem in the reduced sizes as an exported program with inputs and PyTorch's outputs,
which experiments/exported_models.py runs and compares. That needs PyTorch.
"""
import argparse
import ast
import fnmatch
import json
import pathlib
import re
import subprocess
import sys


LARGE = 4096  # equal sizes from here on stay equal: a vector of labels goes with a square of predictions


def reduced(name, value):
    if isinstance(value, tuple):
        return tuple(reduced(name, v) for v in value)
    if "batch" in name:
        return min(value, 2)
    most = 16 if "channel" in name or "feature" in name else 24
    return min(value, most)


def settings(text):
    """--set for each constant that becomes smaller. Constants that others are made of come first."""
    result, known, large = [], {}, {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        try:
            value = eval(compile(ast.Expression(node.value), name, "eval"), {}, dict(known))
        except Exception:
            continue
        known[name] = value
        whole = isinstance(value, int) or (isinstance(value, tuple) and all(isinstance(v, int) for v in value))
        if whole and not isinstance(value, bool) and reduced(name, value) != value:
            first = value[0] if isinstance(value, tuple) else value
            small = large.setdefault(first, reduced(name, first)) if first >= LARGE else reduced(name, first)
            known[name] = (small, *reduced(name, value)[1:]) if isinstance(value, tuple) else small
            result += ["--set", f"{name}={known[name]}"]
    return result


def reduced_text(text):
    """The file with its constants made small, as --set does it."""
    for setting in settings(text)[1::2]:
        name, value = setting.split("=", 1)
        text = re.sub(rf"(?m)^{name} *=(?!=).*$", f"{name} = {value}", text, count=1)
    return text


def export(file, folder):
    import numpy
    import torch

    torch.manual_seed(0)
    names = {}
    exec(compile(reduced_text(file.read_text()), file, "exec"), names)
    model = names["Model"](*names["get_init_inputs"]()).eval()
    inputs = names["get_inputs"]()
    program = torch.export.export(model, tuple(inputs))
    stem = folder / file.stem
    torch.export.save(program, f"{stem}.pt2")
    specs = program.graph_signature.input_specs
    user = [s.arg.name for s in specs if s.kind.name == "USER_INPUT" and type(s.arg).__name__ == "TensorArgument"]
    stem.with_name(stem.name + ".json").write_text(json.dumps({"inputs": user}))
    tensors = [t for t in inputs if isinstance(t, torch.Tensor)]
    is_float = [isinstance(t, torch.Tensor) and t.is_floating_point() for t in inputs]
    doubles = [t.double() if f else t for t, f in zip(inputs, is_float)]
    outputs = model.double()(*doubles)
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    arrays = {f"in{i}": t.numpy() for i, t in enumerate(tensors)}
    arrays |= {f"outd{i}": t.detach().numpy() for i, t in enumerate(outputs)}
    numpy.savez(f"{stem}.npz", **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--deplo", default="build/release/bin/deplo")
    parser.add_argument("--only", default="*", help="names by glob")
    parser.add_argument("--device", default="opencl:0", help="as of deplo run")
    parser.add_argument("--export", type=pathlib.Path, help="write exported programs to this folder instead")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.py"), key=lambda f: int(f.stem.split("_")[0]))
    files = [f for f in files if fnmatch.fnmatch(f.stem, options.only)]
    if options.export:
        options.export.mkdir(parents=True, exist_ok=True)
        for file in files:
            try:
                export(file, options.export)
            except Exception as failure:
                print(f"{file.stem[:48]:50}{str(failure).splitlines()[0][:200]}", flush=True)
        return 0
    right = 0
    for file in files:
        command = [options.deplo, "run", "--file", str(file), "--init", "get_init_inputs", "--inputs", "get_inputs",
                   "--no-measure", "--device", options.device, *settings(file.read_text())]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
            word = "ok" if done.returncode == 0 else "WRONG" if done.returncode == 1 and not done.stderr else "fails"
        except subprocess.TimeoutExpired:
            word, lines = "fails", ["takes more than 300 s"]
        right += word == "ok"
        print(f"{file.stem[:48]:50}{word:6}{'' if word == 'ok' else lines[-1][:200]}", flush=True)
    print(f"{right} of {len(files)} run and are right")
    return 0 if right == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
