#!/usr/bin/env python3
"""Compares deplo's outputs with those of eager PyTorch on the same inputs. For each row of an experiment of
expressions, PyTorch draws the operands, `PROGRAM run` reads them as .npy files and writes its outputs, and eager
computes the same on its device. An output is wrong if its error is above 1e-4 of the root mean square
(docs/measurement.md, "Check"). Then the exit code is 1.

  torch_check.py --deplo PROGRAM [--device cuda] [--suite FILE] [--only REGEX]"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch_suite

TOLERANCE = 1e-4


def check(torch, numpy, args, expression):
    """The largest error of an output, relative to the root mean square of eager's; an error message in place of it."""
    torch.manual_seed(0)
    plain, operands = torch_suite.parse(torch, expression)
    names = [given.split(" = ")[0] for given in expression.split("; ")[:-1]]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for operand, values in zip(names, operands):
            numpy.save(folder / (operand + ".npy"), values.numpy())
        inputs = folder / "inputs.yaml"
        inputs.write_text("".join("%s: %s/%s.npy\n" % (operand, folder, operand) for operand in names), encoding="utf-8")
        ran = subprocess.run([args.deplo, "run", "-c", expression, "--inputs", str(inputs), "--outputs", str(folder / "out"),
                              "--device", "cuda" if args.device == "cuda" else "opencl"],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            return (ran.stderr or ran.stdout).strip()[:200]
        found = torch.from_numpy(numpy.load(folder / "out" / "0.npy")).double()
    expected = plain(*[operand.to(args.device) for operand in operands]).cpu().double()
    if found.shape != expected.shape:
        return "expected the shape %s, found %s" % (tuple(expected.shape), tuple(found.shape))
    return ((found - expected).abs().max() / expected.square().mean().sqrt()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deplo", metavar="PROGRAM", required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--suite", default=torch_suite.SUITE, metavar="FILE", help="an experiment [suite84.yaml]")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name matches")
    args = parser.parse_args()
    import numpy  # noqa: PLC0415: --help needs neither
    import torch
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    wrong, seen = 0, set()
    for name, expression in torch_suite.rows(args.suite, args.only):
        if expression in seen:
            continue
        seen.add(expression)
        error = check(torch, numpy, args, expression)
        right = isinstance(error, float) and error <= TOLERANCE
        wrong += not right
        print("%-36s %s" % (name, "right, %.2g" % error if right else "WRONG: %s" % error), flush=True)
    print("%d of %d rows agree with eager PyTorch %s" % (len(seen) - wrong, len(seen), torch.__version__))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
