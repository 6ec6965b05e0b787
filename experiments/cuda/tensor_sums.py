#!/usr/bin/env python3
"""Does the PTX machine add as tensor cores do? Compares, bit by bit, what matrix instructions give on a GPU and there.

    python3 tensor_sums.py FOLDER                    # writes operands, tensor_sums.cu and tensor_sums.yaml to FOLDER
    for each configuration C of the five in CONFIGURATIONS, on each DEVICE (cuda; ptx:sm_90:truncated):
      deplo run --space FOLDER/tensor_sums.yaml --configuration C --device DEVICE --outputs FOLDER/DEVICE/NAME
    python3 tensor_sums.py FOLDER cuda ptx:sm_90:truncated       # compares the results of two devices
"""
import argparse
import pathlib
import random
import shutil
import struct

CONFIGURATIONS = {"f16": "TYPE=f16,IS_TF32=0,WGMMA=0", "bf16": "TYPE=bf16,IS_TF32=0,WGMMA=0",
                  "tf32": "TYPE=tf32,IS_TF32=1,WGMMA=0", "wgmma_f16": "TYPE=f16,IS_TF32=0,WGMMA=1",
                  "wgmma_bf16": "TYPE=bf16,IS_TF32=0,WGMMA=1"}
THREADS = 8192


def half(draw):
    """16 bits that are a number of moderate size as f16, as bf16 and as the upper half of a tf32; a few are tiny or 0."""
    kind = draw.random()
    if kind < 0.02:
        return 0
    exponent = draw.randrange(0, 8) if kind < 0.04 else draw.randrange(0x68, 0x90)
    return draw.randrange(2) << 15 | exponent << 7 | draw.randrange(128)


def write(folder):
    draw = random.Random(1)
    for name, count in (("a", 4 * THREADS), ("b", 2 * THREADS)):
        words = [half(draw) << 16 | half(draw) for _ in range(count)]
        (folder / f"{name}.bin").write_bytes(struct.pack(f"<{count}I", *words))
    count = 4 * THREADS
    words = [0 if draw.random() < 0.1 else draw.randrange(2) << 31 | draw.randrange(0x6c, 0x8c) << 23 | draw.getrandbits(23)
             for _ in range(count)]
    (folder / "c.bin").write_bytes(struct.pack(f"<{count}I", *words))
    here = pathlib.Path(__file__).parent
    for name in ("tensor_sums.cu", "tensor_sums.yaml"):
        shutil.copy(here / name, folder / name)


def words_of(file):
    return struct.unpack(f"<{4 * THREADS}I", file.read_bytes()[-16 * THREADS:])  # behind the header of .npy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("devices", nargs="*", help="two devices whose results are compared")
    options = parser.parse_args()
    folder = options.folder
    if not options.devices:
        folder.mkdir(parents=True, exist_ok=True)
        write(folder)
        return
    if len(options.devices) != 2:
        parser.error(f"expected no device or two, found {len(options.devices)}")
    for name in CONFIGURATIONS:
        one, other = (words_of(folder / device / name / "d.npy") for device in options.devices)
        differ = [i for i in range(len(one)) if one[i] != other[i]]
        print(f"{name}: {len(one) - len(differ)} of {len(one)} sums have equal bits"
              + "".join(f"; sum {i}: {one[i]:08x} and {other[i]:08x}" for i in differ[:3]))


if __name__ == "__main__":
    main()
