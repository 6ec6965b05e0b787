#!/usr/bin/env python3
"""Writes the fixtures of tests/ir/pt2_test.cpp with the PyTorch that runs it: CASE_VERSION.pt2 and, once, CASE.json.

    python2.5.1 write.py; python2.8.0 write.py; python2.11.0 write.py      (a Python with each PyTorch)

CASE.json has the inputs and the outputs in float64; a later version must find the same ones. Blocks are packed anew with
deflate, to be small; `mlp` and `head` are as torch.export.save wrote them.
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
}
AS_WRITTEN = {"mlp", "head"}


def pack(source, target):
    """The same entries, compressed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED, 9)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(k == "torch" or same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-14)


def main():
    version = torch.__version__.split("+")[0]
    for case, arguments in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            written, expected = pathlib.Path(folder, f"{case}.pt2"), pathlib.Path(folder, "expected.json")
            subprocess.run([sys.executable, "-W", "ignore", EXPORT, *arguments, "--bare", "--expected", expected, written],
                           check=True)
            target = HERE / f"{case}_{version}.pt2"
            target.write_bytes(written.read_bytes())
            if case not in AS_WRITTEN:
                pack(written, target)
            values, kept = json.loads(expected.read_text()), HERE / f"{case}.json"
            if not kept.exists():
                kept.write_text(expected.read_text())
            elif not same(values, json.loads(kept.read_text())):
                sys.exit(f"{case}: PyTorch {version} computes other values than {kept.name} has")


if __name__ == "__main__":
    main()
