#!/usr/bin/env python3
"""Runs the problems of a KernelBench folder in reduced sizes and says which are right.

    python3 experiments/kernelbench.py ../shared/kernelbench/level1 [--deplo build/release/bin/deplo] [--only '5*']

Every constant at the top of a file becomes small (`--set`): batches 2, channels at most 16, groups at most 8, other
sizes at most 24. A problem that deplo refuses runs again with other sizes at most 8: two sizes of a problem that must
be equal may then be so. deplo compares each output with its reference in double, which tests/data/torch_values compares
with PyTorch. Prints a line for each problem and a count. Needs Python only.

With `--export FOLDER` it writes each problem in the reduced sizes as an exported program with inputs and PyTorch's outputs,
which experiments/exported_models.py runs and compares. That needs PyTorch.
"""
import argparse
import ast
import fnmatch
import json
import pathlib
import subprocess
import sys


LARGE = 4096  # equal sizes from here on stay equal: a vector of labels goes with a square of predictions


LIMITS = (24, 8)  # of sizes that are neither batches nor channels nor groups: first the one, then the other


def reduced(name, value, limit):
    if "batch" in name:
        return min(value, 2)
    if "group" in name:
        return min(value, 8)
    return min(value, 16 if "channel" in name or "feature" in name else limit)


def small_constants(text, limit):
    """(statement, name, value) of each constant of integers that becomes smaller. Later constants are made of them."""
    known, large = {}, {}
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.Assign):
            continue
        try:
            value = eval(compile(ast.Expression(statement.value), "", "eval"), {}, known)
        except Exception:
            continue
        is_derived = any(isinstance(part, ast.Name) for part in ast.walk(statement.value))  # of smaller constants
        for target in statement.targets:
            for name, item in zip(target.elts, value) if isinstance(target, ast.Tuple) else [(target, value)]:
                known[name.id] = item
                sizes = item if isinstance(item, tuple) else (item,)
                if is_derived or not all(type(size) is int for size in sizes):
                    continue
                small = [reduced(name.id, size, limit) for size in sizes]
                if sizes and sizes[0] >= LARGE:
                    small[0] = large.setdefault(sizes[0], small[0])
                known[name.id] = tuple(small) if isinstance(item, tuple) else small[0]
                if known[name.id] != item:
                    yield statement, name.id, known[name.id]


def settings(text, limit):
    return [word for _, name, value in small_constants(text, limit) for word in ("--set", f"{name}={value}")]


def reduced_text(text):
    """The file with its constants made small, as --set does it."""
    lines = text.splitlines()
    for statement, name, value in reversed(list(small_constants(text, LIMITS[0]))):
        line, end = statement.end_lineno - 1, statement.end_col_offset
        lines[line] = f"{lines[line][:end]}; {name} = {value}{lines[line][end:]}"
    return "\n".join(lines)


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


def run(file, limit, options):
    """"ok", "WRONG" or "fails", and the reason."""
    command = [options.deplo, "run", "--file", str(file), "--init", "get_init_inputs", "--inputs", "get_inputs",
               "--no-measure", "--device", options.device, *settings(file.read_text(), limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "fails", "takes more than 300 s"
    if done.returncode == 0:
        return "ok", ""
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return "WRONG" if done.returncode == 1 and not done.stderr else "fails", lines[-1]


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
        word, line = "fails", ""
        for limit in LIMITS:
            if word == "fails":
                word, line = run(file, limit, options)
        right += word == "ok"
        print(f"{file.stem[:48]:50}{word:6}{line[:200]}", flush=True)
    print(f"{right} of {len(files)} run and are right")
    return 0 if right == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
