#!/usr/bin/env python3
"""Runs the problems of a KernelBench folder in reduced sizes and says which are right.

    python3 experiments/kernelbench.py ../shared/kernelbench/level1 [--deplo build/release/bin/deplo] [--only '5*']

The constants of a file are reduced: batches to at most 2, groups to 8, channels to 16, the width of images to 32, other
sizes to 24. If deplo refuses a file, it runs again with other sizes of at most 8, so that two sizes that must be equal may
become equal. If deplo refuses it again, as for a model for images of 224 x 224, only the batch is reduced.
deplo compares each output with its reference in double, which tests/data/torch_values compares with PyTorch. Prints a
line for each problem and a count. Needs only Python.

`--sizes-for-two-cores FOLDER` writes each problem in sizes that take two cores well below a second, for
experiments/module_times.py. Batches of more than 4 are halved, and then the largest sizes, down to 4 GFLOP and 100 MB of
inputs and outputs. The script prints the changes. This option and the next need PyTorch.

`--export FOLDER` writes each problem in the reduced sizes as an exported program, with inputs and PyTorch's outputs.
experiments/exported_models.py runs these programs and compares the outputs.
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


LARGE = 4096  # equal sizes of at least this stay equal: a vector of labels belongs to a square of predictions
BATCH = 2


def small(name, value, limit=24):
    if isinstance(value, (tuple, list)):
        return type(value)(small(name, v, limit) for v in value)
    if "batch" in name:
        return min(value, BATCH)
    if "group" in name:
        return min(value, 8)
    if limit > 8 and re.search("image|height|width", name):
        return min(value, 32)  # models halve the size and cut the image into patches
    return min(value, 16 if "channel" in name or "feature" in name else limit)


def smaller(name, value):
    return small(name, value, 8)


def small_batch(name, value):
    return min(value, BATCH) if "batch" in name else value


REDUCTIONS = small, smaller, small_batch  # tried in this order until deplo accepts a model


def assigned(node):
    """The names that a statement of a file assigns, and the expressions of their values."""
    if not isinstance(node, ast.Assign):
        return []
    target, value = node.targets[0], node.value
    several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    pairs = zip(target.elts, value.elts) if several else [(target, value)]
    return [(name.id, expression) for name, expression in pairs if isinstance(name, ast.Name)]


def edited(text, edits):
    """Replaces expressions of the text. edits are in the order of the text; each expression is on one line."""
    lines = text.splitlines(keepends=True)
    for expression, new in reversed(edits):
        line = lines[expression.lineno - 1]
        lines[expression.lineno - 1] = f"{line[:expression.col_offset]}{new}{line[expression.end_col_offset:]}"
    return "".join(lines)


def reduced_text(text, reduced):
    """The file with reduced constants. Constants from which others are computed come first."""
    edits, known, large = [], {}, {}
    for name, expression in (pair for node in ast.parse(text).body for pair in assigned(node)):
        try:
            value = eval(compile(ast.Expression(expression), name, "eval"), {}, dict(known))
        except Exception:
            continue
        known[name] = value
        values = parts(value)
        if isinstance(expression, ast.Name) or not all(type(v) is int for v in values):
            continue
        new = reduced(name, value)
        if values and values[0] >= LARGE:
            first = large.setdefault(values[0], reduced(name, values[0]))
            new = first if values is not value else type(value)([first, *new[1:]])
        if new != value and expression.lineno == expression.end_lineno:
            known[name] = new
            edits.append((expression, new))
    return edited(text, edits)


def constants(text):
    """The one-line constants that are integers or sequences of integers: name, expression and value of each."""
    known, found = {}, []
    for name, expression in (pair for node in ast.parse(text).body for pair in assigned(node)):
        try:
            known[name] = value = eval(compile(ast.Expression(expression), name, "eval"), {}, dict(known))
        except Exception:
            continue
        one_line = expression.lineno == expression.end_lineno
        if one_line and all(type(v) is int for v in parts(value)) and not isinstance(expression, ast.Name):
            found.append((name, expression, value))
    return found


def parts(value):
    return value if isinstance(value, (tuple, list)) else [value]


def work(text):
    """FLOPs of products and convolutions, and bytes of inputs and outputs. Nothing is computed."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    names = {}
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counter:
        exec(compile(text, "problem", "exec"), names)
        inputs = names["get_inputs"]()
        outputs = names["Model"](*names["get_init_inputs"]()).eval()(*inputs)
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    tensors = [t for t in [*inputs, *outputs] if isinstance(t, torch.Tensor)]
    return counter.get_total_flops(), sum(t.numel() * t.element_size() for t in tensors)


def in_sizes_for_two_cores(text, flops=4e9, size=100e6):
    """The text, and values of its constants that keep the limits."""
    sizes = {name: value for name, _, value in constants(text)}
    fixed = re.compile("kernel|stride|padd|dilat|group|class|dim$|channel|feature")
    while True:
        smaller = edited(text, [(place, sizes[name]) for name, place, value in constants(text) if value != sizes[name]])
        done = work(smaller)
        if done[0] <= flops and done[1] <= size:
            return smaller, sizes
        batches = [v for name, value in sizes.items() if "batch" in name for v in parts(value) if v > 4]
        others = [v for name, value in sizes.items() if not fixed.search(name) for v in parts(value) if v > 8]
        largest = max(batches or others, default=0)
        if largest == 0:
            raise ValueError("expected sizes that can be halved, found none")
        for name, value in sizes.items():
            may_change = "batch" in name if batches else not fixed.search(name)
            if may_change or largest >= LARGE:
                halves = [max(largest // 2, 4) if v == largest else v for v in parts(value)]
                sizes[name] = type(value)(halves) if isinstance(value, (tuple, list)) else halves[0]


def write_sizes(file, folder):
    text = file.read_text()
    smaller, sizes = in_sizes_for_two_cores(text)
    (folder / file.name).write_text(smaller)
    changed = [f"{name} = {sizes[name]}" for name, _, value in constants(text) if value != sizes[name]]
    print(f"{file.stem[:48]:50}{', '.join(changed) or 'as it stands'}", flush=True)


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
    """The outcome as a word, and deplo's message."""
    with tempfile.TemporaryDirectory() as folder:
        problem = pathlib.Path(folder, file.name)
        problem.write_text(text)
        command = [options.deplo, "run", "--file", problem,
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
    parser.add_argument("--device", default="opencl:0", help="device, as for deplo run")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for each problem")
    parser.add_argument("--export", type=pathlib.Path, help="write exported programs to this folder instead")
    parser.add_argument("--sizes-for-two-cores", type=pathlib.Path, metavar="FOLDER",
                        help="write the problems in sizes that suit two cores")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.py"), key=lambda f: int(f.stem.split("_")[0]))
    files = [f for f in files if fnmatch.fnmatch(f.stem, options.only)]
    if options.sizes_for_two_cores:
        options.sizes_for_two_cores.mkdir(parents=True, exist_ok=True)
        for file in files:
            write_sizes(file, options.sizes_for_two_cores)
        return 0
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
