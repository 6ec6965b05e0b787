#!/usr/bin/env python3
"""Writes the fixtures of tests/ir/torch/pt2_test.cpp with the PyTorch that runs it: CASE_VERSION.pt2 and, once, CASE.json.

    python2.5.1 write.py; python2.8.0 write.py; python2.11.0 write.py      (a Python with each PyTorch; or: write.py CASE…)

The JSON has the inputs and the outputs in float64; a later version must find the same ones, and so must the same program in
core ATen (CASE_core_aten). All are packed anew with deflate, to be small; `mlp` is as torch.export.save wrote it.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import torch

HERE = pathlib.Path(__file__).resolve().parent
EXPORT = HERE.parents[2] / "experiments" / "export_pt2.py"
SMALL = ["--hidden", "16", "--ffn", "24"]
CASES = {
    "llama_block": ["--hidden", "32", "--ffn", "48"],
    "qwen3_core_aten": [*SMALL, "--qk-norm", "--qkv-bias", "--decompose"],
    "eager_half": [*SMALL, "--qkv-bias", "--attention", "eager", "--dtype", "float16"],
    "eager_bfloat16": [*SMALL, "--attention", "eager", "--dtype", "bfloat16", "--seq", "5"],
    "mlp": ["--model", "mlp", "--seq", "3", *SMALL],
    "head": ["--model", "head", *SMALL],
    "multihead": ["--model", "multihead", "--seq", "5", "--hidden", "8", "--ffn", "12"],
    "multihead_core_aten": ["--model", "multihead", "--seq", "5", "--hidden", "8", "--ffn", "12", "--decompose"],
    "routed_mlp": ["--model", "routed-mlp", "--seq", "7", "--hidden", "8", "--ffn", "12"],
    "routed_mlp_core_aten": ["--model", "routed-mlp", "--seq", "7", "--hidden", "8", "--ffn", "12", "--decompose"],
    "corners": ["--model", "corners"],
    "corners_core_aten": ["--model", "corners", "--decompose"],
    "narrow": ["--model", "narrow"],
    "narrow_core_aten": ["--model", "narrow", "--decompose"],
    "packed": ["--model", "packed", "--hidden", "64", "--ffn", "24", "--seq", "3"],
    "packed_core_aten": ["--model", "packed", "--hidden", "64", "--ffn", "24", "--seq", "3", "--decompose"],
    "copies": ["--model", "copies"],
    "views": ["--model", "views"],
    "state": ["--model", "state"],
    "state_core_aten": ["--model", "state", "--decompose"],
    "strided": ["--model", "strided"],
    "rotary": ["--model", "rotary"],
    "rotary_core_aten": ["--model", "rotary", "--decompose"],
    "assorted": ["--model", "assorted"],
    "assorted_core_aten": ["--model", "assorted", "--decompose"],
    "fourier": ["--model", "fourier"],
    "fourier_core_aten": ["--model", "fourier", "--decompose"],
    "complex": ["--model", "complex"],
    "complex_core_aten": ["--model", "complex", "--decompose"],
    "spectra": ["--model", "spectra"],
    "spectra_core_aten": ["--model", "spectra", "--decompose"],
    "conjugates": ["--model", "conjugates"],
    "conjugates_core_aten": ["--model", "conjugates", "--decompose"],
    "placed": ["--model", "placed"],
    "placed_core_aten": ["--model", "placed", "--decompose"],
    "written": ["--model", "written"],
    "chosen": ["--model", "chosen"],
    "chosen_core_aten": ["--model", "chosen", "--decompose"],
    "quantized": ["--model", "quantized"],
    "quantized_core_aten": ["--model", "quantized", "--decompose"],
    "recurrent": ["--model", "recurrent"],
    "regions": ["--model", "regions"],  # needs torchvision
    "blocks": ["--model", "blocks"],  # needs torchao
    "steps": ["--model", "steps"],
    "steps_core_aten": ["--model", "steps", "--decompose"],
    "dynamic": ["--model", "dynamic", "--seq", "8"],
    "dynamic_core_aten": ["--model", "dynamic", "--seq", "8", "--decompose"],
    "dynamic_longer": ["--model", "dynamic", "--seq", "12"],  # the same program and weights, with an example of other sizes
    "operators": ["--model", "operators"],
    "operators_core_aten": ["--model", "operators", "--decompose"],
}
AS_WRITTEN = {"mlp"}
ONLY = {"eager_half": {"2.5.1", "2.11.0"}, "eager_bfloat16": {"2.8.0"}}  # all differ in what stores tensors


def pack(source, target):
    """The same entries, compressed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED, 9)


def short(tensors):
    return [{"shape": t["shape"], "values": [float(f"{x:.13g}") for x in t["values"]]} for t in tensors]


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return math.isclose(a, b, rel_tol=1e-11, abs_tol=1e-13)


def write(case, arguments, version):
    with tempfile.TemporaryDirectory() as folder:
        written, expected = pathlib.Path(folder, f"{case}.pt2"), pathlib.Path(folder, "expected.json")
        subprocess.run([sys.executable, "-W", "ignore", EXPORT, *arguments, "--bare", "--expected", expected, written],
                       check=True)
        target = HERE / f"{case}_{version}.pt2"
        target.write_bytes(written.read_bytes())
        if case not in AS_WRITTEN:
            pack(written, target)
        found = json.loads(expected.read_text())
    values = {"inputs": found["inputs"], "outputs": short(found["outputs"])}
    kept = HERE / f"{case.removesuffix('_core_aten')}.json"
    if not kept.exists():
        kept.write_text(json.dumps(values, separators=(",", ":")) + "\n")
    elif not same(values, json.loads(kept.read_text())):
        sys.exit(f"{case}: PyTorch {version} computes other values than {kept.name} has")


def main():
    version = torch.__version__.split("+")[0]
    for case, arguments in CASES.items():
        if version in ONLY.get(case, {version}) and case in (sys.argv[1:] or CASES):
            write(case, arguments, version)


if __name__ == "__main__":
    main()
