"""Writes types.npz: for each type of a kernel file's arrays some values, and what NumPy makes of x + x."""
import numpy as np

NAMES = {"float": "f4", "double": "f8", "half": "f2", "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2",
         "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8"}
rng = np.random.default_rng(0)
arrays = {}
for name, code in NAMES.items():
    if code[0] == "f":
        x = rng.uniform(-1, 1, 16).astype(code)
    else:
        limits = np.iinfo(code)
        x = rng.integers(limits.min, limits.max, 16, dtype=code, endpoint=True)
        x[:2] = limits.min, limits.max
    arrays["x_" + name] = x
    arrays["y_" + name] = x + x  # integers wrap, as in C
np.savez("types.npz", **arrays)
