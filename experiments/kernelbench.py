#!/usr/bin/env python3
"""Runs the problems of a KernelBench folder in reduced sizes and says which are right.

    python3 experiments/kernelbench.py ../shared/kernelbench/level1 [--deplo build/release/bin/deplo] [--only '5*']

Every constant of a file becomes small: batches at most 2, groups 8, channels 16, images 32 wide, other sizes 24. A file
that is refused runs with other sizes of at most 8: two that must be equal may then be so. If it is refused again, as a
model for images of 224 x 224 is, it runs with a small batch only.
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
import signal
import subprocess
import sys
import tempfile


LARGE = 4096  # equal sizes from here on stay equal: a vector of labels goes with a square of predictions
BATCH = 2


def small(name, value, limit=24):
    if isinstance(value, (tuple, list)):
        return type(value)(small(name, v, limit) for v in value)
    if "batch" in name:
        return min(value, BATCH)
    if "group" in name:
        return min(value, 8)
    if limit > 8 and re.search("image|height|width", name):
        return min(value, 32)  # models halve it and cut it into patches
    return min(value, 16 if "channel" in name or "feature" in name else limit)


def smaller(name, value):
    return small(name, value, 8)


def small_batch(name, value):
    return min(value, BATCH) if "batch" in name else value


REDUCTIONS = small, smaller, small_batch  # one after the other, until a model is not refused


def assigned(node):
    """The names that a statement of a file assigns, and the expressions of their values."""
    if not isinstance(node, ast.Assign):
        return []
    target, value = node.targets[0], node.value
    several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    pairs = zip(target.elts, value.elts) if several else [(target, value)]
    return [(name.id, expression) for name, expression in pairs if isinstance(name, ast.Name)]


def reduced_text(text, reduced):
    """The file with its constants made small. Constants that others are made of come first."""
    edits, known, large = [], {}, {}
    for name, expression in (pair for node in ast.parse(text).body for pair in assigned(node)):
        try:
            value = eval(compile(ast.Expression(expression), name, "eval"), {}, dict(known))
        except Exception:
            continue
        known[name] = value
        values = value if isinstance(value, (tuple, list)) else [value]
        if isinstance(expression, ast.Name) or not all(type(v) is int for v in values):
            continue
        new = reduced(name, value)
        if values and values[0] >= LARGE:
            first = large.setdefault(values[0], reduced(name, values[0]))
            new = first if values is not value else type(value)([first, *new[1:]])
        if new != value and expression.lineno == expression.end_lineno:
            known[name] = new
            edits.append((expression, new))
    lines = text.splitlines(keepends=True)
    for expression, new in reversed(edits):
        line = lines[expression.lineno - 1]
        lines[expression.lineno - 1] = f"{line[:expression.col_offset]}{new}{line[expression.end_col_offset:]}"
    return "".join(lines)


def export(file, text, folder):
    import numpy
    import torch

    torch.manual_seed(0)
    names = {}
    exec(compile(text, file, "exec"), names)
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


def run(file, text, options):
    """A word for the outcome, and deplo's message."""
    with tempfile.TemporaryDirectory() as folder:
        problem = pathlib.Path(folder, file.name)
        problem.write_text(text)
        command = [options.deplo, "run", "--file", problem, "--init", "get_init_inputs", "--inputs", "get_inputs",
                   "--no-measure", "--device", options.device]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return "fails", f"takes more than {options.timeout} s"
    if done.returncode == 0:
        return "ok", ""
    if done.returncode < 0:
        return "fails", signal.Signals(-done.returncode).name
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return "WRONG" if done.returncode == 1 and not done.stderr else "refused", lines[-1].replace(f"{folder}/", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--deplo", default="build/release/bin/deplo")
    parser.add_argument("--only", default="*", help="names by glob")
    parser.add_argument("--device", default="opencl:0", help="as of deplo run")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for each problem")
    parser.add_argument("--export", type=pathlib.Path, help="write exported programs to this folder instead")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.py"), key=lambda f: int(f.stem.split("_")[0]))
    files = [f for f in files if fnmatch.fnmatch(f.stem, options.only)]
    if options.export:
        options.export.mkdir(parents=True, exist_ok=True)
        for file in files:
            for reduced in REDUCTIONS:
                try:
                    export(file, reduced_text(file.read_text(), reduced), options.export)
                    break
                except Exception as failure:
                    message = str(failure).splitlines()[0][:200]
            else:
                print(f"{file.stem[:48]:50}{message}", flush=True)
        return 0
    right = 0
    for file in files:
        for reduced in REDUCTIONS:
            word, message = run(file, reduced_text(file.read_text(), reduced), options)
            if word != "refused":
                break
        right += word == "ok"
        print(f"{file.stem[:48]:50}{word:9}{message[:200]}", flush=True)
    print(f"{right} of {len(files)} run and are right")
    return 0 if right == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
