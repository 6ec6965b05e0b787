#!/usr/bin/env python3
"""Computes by PyTorch (2.5 or later), in float64, what the modules of this folder give, and writes NAME.json beside
NAME.py. Read by tests/ir/torch/torch_modules_test.cpp.

    python write.py [--export] [NAME ...]

Each file is as a problem of KernelBench: a class Model, get_init_inputs and get_inputs. The values of parameters,
buffers and inputs are not in the files: element i of a tensor with the key k is floor(256 u) / 256 - 0.5, where
u = ((2654435761 i + crc32(k)) mod 2^32) / 2^32; variances are 1 more. The parts of a complex tensor count as a last
dimension. The keys are p_a_b for the parameter a.b, the
name of a tensor that is an attribute of the model, and in0, in1, ... for the inputs.

With --export it also writes NAME.pt2, in float32 (tests/rules/decompose/same_graph_test.cpp).
"""
import json
import pathlib
import sys
import zipfile
import zlib

import torch

FOLDER = pathlib.Path(__file__).parent
COMPLEX64 = torch.complex64


def drawn(key, t):
    if t.is_complex():
        return torch.view_as_complex(drawn(key, torch.view_as_real(t)))
    i = torch.arange(t.numel(), dtype=torch.int64)
    u = (i * 2654435761 + zlib.crc32(key.encode())) % 2**32
    values = (u // 2**24).double() / 256 - 0.5 + (1 if key.endswith("running_var") else 0)
    return values.reshape(t.shape).to(t.dtype)


def number(x):
    return float(f"{x:.12g}") if isinstance(x, float) else x


def parameters(model):
    """The tensors that the initialisation does not determine: parameters, the statistics of norms, vectors of spectral norms."""
    statistics = [(k, b) for k, b in model.named_buffers() if k.endswith(("running_mean", "running_var", "_u", "_v"))]
    return list(model.named_parameters()) + statistics


def load(file):
    """The model in float64, with its values, and its inputs."""
    names = {"__name__": "module"}
    exec(compile(file.read_text(), file, "exec"), names)
    torch.set_default_dtype(torch.float64)
    torch.cfloat = torch.complex64 = torch.complex128
    model = names["Model"](*names["get_init_inputs"]()).eval().double()
    with torch.no_grad():
        for key, t in parameters(model):
            t.copy_(drawn("p_" + key.replace(".", "_"), t))
        for key, t in vars(model).items():
            if isinstance(t, torch.Tensor):
                setattr(model, key, drawn(key, t).double())
    inputs = [drawn(f"in{i}", t).double() for i, t in enumerate(names["get_inputs"]())]
    return model, inputs


def compress(file):
    with zipfile.ZipFile(file) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)


def main():
    sys.path.insert(0, str(FOLDER))
    exports = "--export" in sys.argv[1:]
    names = [n for n in sys.argv[1:] if n != "--export"]
    files = [FOLDER / f"{n}.py" for n in names] or sorted(f for f in FOLDER.glob("*.py") if f.stem != "write")
    for file in files:
        if exports:
            torch.set_default_dtype(torch.float32)
            torch.cfloat = torch.complex64 = COMPLEX64
            module = {"__name__": "module"}
            exec(compile(file.read_text(), file, "exec"), module)
            model = module["Model"](*module["get_init_inputs"]()).eval()
            torch.export.save(torch.export.export(model, tuple(module["get_inputs"]())), file.with_suffix(".pt2"))
            compress(file.with_suffix(".pt2"))
        model, inputs = load(file)
        with torch.no_grad():
            outputs = model(*inputs)
        outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        found = [{"shape": list(t.shape), "values": [number(x) for x in t.flatten().tolist()]} for t in outputs]
        file.with_suffix(".json").write_text(json.dumps(found, separators=(",", ":")) + "\n")
        print(file.stem, [tuple(t.shape) for t in outputs])


if __name__ == "__main__":
    main()
