#!/usr/bin/env python3
"""Runs every NAME.pt2 of a folder and compares the outputs with PyTorch's.

    python3 experiments/exported_models.py FOLDER [--deplo PROGRAM] [--only 'v_*'] [--device DEVICE]

NAME.json ({"inputs": names in order}) and NAME.npz (in0 ..., outd0 ...: outputs in float64) are in the same folder as
NAME.pt2. An output agrees if the error of its worst element is at most 1e-5 of its root mean square. Prints a line for
each file and a count. Needs only Python.
"""
import argparse
import ast
import fnmatch
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

FORMATS = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "b1": "?", "f2": "e"}
TOLERANCE = 1e-5


def read_npy(data):
    """The (shape, values) of a .npy file, given its bytes."""
    size = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8:8 + size], "little")
    header = ast.literal_eval(data[8 + size:8 + size + length].decode())
    count = math.prod(header["shape"])
    format = FORMATS[header["descr"].lstrip("<|=")]
    values = struct.unpack_from(f"<{count}{format}", data, 8 + size + length)
    return tuple(header["shape"]), in_rows(values, header["shape"]) if header["fortran_order"] else values


def in_rows(values, shape):
    """Puts values whose first index changes fastest into row-major order."""
    strides = [math.prod(shape[:d]) for d in range(len(shape))]
    places = [0]
    for extent, stride in zip(shape, strides):
        places = [p + i * stride for p in places for i in range(extent)]
    return tuple(values[p] for p in places)


def error(found, expected):
    """The worst difference relative to the root mean square of the finite elements. Equal infinities agree, and so do NaN."""
    finite = [e for e in expected if math.isfinite(e)]
    scale = math.sqrt(sum(e * e for e in finite) / max(len(finite), 1)) or 1.0
    worst = 0.0
    for f, e in zip(found, expected):
        if f == e or (math.isnan(f) and math.isnan(e)):
            continue
        if not (math.isfinite(f) and math.isfinite(e)):
            return math.inf
        worst = max(worst, abs(f - e) / scale)
    return worst


def run(file, deplo, extra, folder):
    """The error of the worst output. Raises RuntimeError with the reason if there is none."""
    names = json.loads(file.with_suffix(".json").read_text())["inputs"]
    arrays = zipfile.ZipFile(file.with_suffix(".npz"))
    lines = []
    for i, name in enumerate(names):
        (folder / f"in{i}.npy").write_bytes(arrays.read(f"in{i}.npy"))
        lines.append(f"{name}: in{i}.npy")
    (folder / "inputs.yaml").write_text("\n".join(lines) + "\n")
    command = [deplo, "run", "--pt2", str(file), "--inputs", str(folder / "inputs.yaml"), "--outputs",
               str(folder / "out"), *extra]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not (folder / "out" / "0.npy").exists():
        raise RuntimeError((done.stderr.strip() or done.stdout.strip()).splitlines()[-1])
    worst = 0.0
    for entry in arrays.namelist():
        if not entry.startswith("outd"):
            continue
        shape, expected = read_npy(arrays.read(entry))
        found_shape, found = read_npy((folder / "out" / entry[len("outd"):]).read_bytes())
        if shape != found_shape:
            raise RuntimeError(f"output {entry[4:-4]}: expected the shape {shape}, found {found_shape}")
        worst = max(worst, error(found, expected))
    if done.returncode:
        raise RuntimeError(f"deplo's own reference disagrees (error by PyTorch {worst:.1e})")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--deplo", default="build/release/bin/deplo")
    parser.add_argument("--only", default="*", help="names by glob")
    parser.add_argument("--device", default="opencl:0", help="device, as for deplo run")
    options = parser.parse_args()
    files = [f for f in sorted(options.folder.glob("*.pt2")) if fnmatch.fnmatch(f.stem, options.only)]
    right = 0
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst = run(file, options.deplo, ["--no-measure", "--device", options.device], pathlib.Path(folder))
                right += worst <= TOLERANCE
                print(f"{file.stem:24} {'ok   ' if worst <= TOLERANCE else 'WRONG'} {worst:.1e}", flush=True)
            except RuntimeError as failure:
                print(f"{file.stem:24} fails {failure}", flush=True)
    print(f"{right} of {len(files)} run and agree")
    return 0 if right == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
