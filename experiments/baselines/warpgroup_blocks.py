#!/usr/bin/env python3
"""Times schedules of bf16 matmuls by matrix instructions of warpgroups beside torch.mm (cuBLAS).

    python3 experiments/baselines/warpgroup_blocks.py compile FOLDER [--deplo build/release/bin/deplo]   # no GPU
    python3 experiments/baselines/warpgroup_blocks.py time FOLDER                                        # PyTorch, cuda-bindings

`compile` writes a machine code for sm_90 for each legal combination of the blocks, slots, clusters and orders below, and
FOLDER/kernels.txt. `time` launches each of them in a CUDA graph, 4 times for each of 10 sets of operands (4 sets if one has
more than 30 million elements of the second operand), so that no operand is in the cache, and prints for each the least and
the median of 4 replays, in µs for one launch. Every output is compared with PyTorch's in f32 first.
"""
import argparse
import ctypes
import pathlib
import re
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

SHAPES = [(512, 2048, 2048), (512, 5632, 2048), (512, 2048, 5632), (512, 3584, 3584), (512, 18944, 3584),
          (512, 3584, 18944), (2048, 2048, 2048), (4096, 4096, 4096), (128, 5632, 2048), (128, 2048, 2048),
          (128, 2048, 5632), (128, 3584, 18944), (256, 4096, 4096), (2048, 5632, 2048), (2048, 3584, 18944),
          (1024, 4096, 4096), (2048, 18944, 3584)]  # m, n, k
BLOCKS = [(64, 64), (64, 128), (128, 64), (128, 128), (128, 192), (128, 256), (256, 128)]
UNITS = 132
SHARED = 220_000  # bytes of slots that leave room for the barriers


def combinations():
    for m, n, k in SHAPES:
        for rows, columns in BLOCKS:
            if rows > m:
                continue
            grid = -(-m // rows) * -(-n // columns)
            for warps in (4,) if rows == 64 else (8,) if columns > 128 or rows == 256 else (4, 8):
                for cluster in (1, 2, 4) if grid * 2 <= 3 * UNITS else (1,):
                    for slots in (4, 6, 8):
                        if (rows + columns) * 128 * slots > SHARED:
                            continue
                        for order in (1, 2, 4, 8, 16) if grid > UNITS else (1,):
                            for multicast in ("1", "2 multicast.slab=x", "2 multicast.slab=x_1"):
                                if multicast == "1" or (cluster == 1 and slots == 4 and rows * columns >= 128 * 128):
                                    yield m, n, k, rows, columns, warps, cluster, slots, order, multicast


def compile_one(deplo, folder, combination):
    """A line of kernels.txt, or None if the schedule is not legal."""
    m, n, k, rows, columns, warps, cluster, slots, order, multicast = combination
    command = [deplo, "compile", "-c", f"torch.randn({m}, {k}) @ torch.randn({k}, {n})", "--dtype", "bf16", "--target",
               "sm_90", "--schedule"]

    def run(schedule, *flags):
        done = subprocess.run([*command, schedule, *flags], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    start = f"chunk_matmul_k.bk=64 blockify_launch.bm={rows} blockify_launch.bn={columns}"
    begun = run(start, "--ir", "tile", "-v")
    whole = re.search(r"^schedule: (.*)$", begun or "", re.M)
    if not whole:
        return None
    schedule = re.sub(r"raster\.group=\d+", f"raster.group={order}", whole[1].split(" mma.")[0])
    schedule += (f" mma.atom=m64n{columns}k16 mma.warps_m={warps} mma.warps_n=1 mma.a=shared cluster_matmul_k.blocks="
                 f"{cluster} double_buffer.depth={slots} vectorize.width=2 specialize_warps.apply=1")
    schedule += f" multicast.blocks={multicast}" if cluster == 1 else ""
    kernel, table = run(schedule, "--ir", "kernel"), run(schedule, "--resources")
    if not kernel or not table or (order > 1 and "raster" not in schedule):
        return None
    boxes = re.findall(r"TmaDescriptor \w+\(\w+, box=\((\d+), (\d+)\)\)", kernel)
    name = "_".join(str(part) for part in combination).replace(" multicast.slab=", "")
    if len(boxes) != 2 or run(schedule, "--ir", "cubin", "-o", str(folder / f"{name}.cubin")) is None:
        return None
    figures = table.strip().splitlines()[-1].split()
    launch, threads, shared = figures[1], figures[2], figures[7]
    return " ".join([name, str(m), str(n), str(k), ",".join(boxes[0]), ",".join(boxes[1]), launch, threads, shared])


def compile_all(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor() as pool:
        lines = pool.map(lambda c: compile_one(options.deplo, options.folder, c), combinations())
        legal = [line for line in lines if line]
    (options.folder / "kernels.txt").write_text("\n".join(legal) + "\n")
    print(f"{len(legal)} kernels in {options.folder}")


def checked(result):
    from cuda.bindings import driver

    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) == 2 else result[1:]


def tensor_map(tensor, box):
    from cuda.bindings import driver

    rows, columns = tensor.shape
    return checked(driver.cuTensorMapEncodeTiled(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, tensor.data_ptr(),
        [driver.cuuint64_t(columns), driver.cuuint64_t(rows)], [driver.cuuint64_t(columns * 2)],
        [driver.cuuint32_t(box[1]), driver.cuuint32_t(box[0])], [driver.cuuint32_t(1)] * 2,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))


def timed(name, launch, sets):
    """`launch(i, stream)` with operands i of so many sets."""
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for i in range(sets):
            launch(i, stream.cuda_stream)
    stream.synchronize()
    graph, rounds = torch.cuda.CUDAGraph(), 4
    with torch.cuda.graph(graph, stream=stream):
        for i in range(rounds * sets):
            launch(i % sets, stream.cuda_stream)
    times = []
    for _ in range(4):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        graph.replay()
        torch.cuda.synchronize()
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / (rounds * sets))
    print(f"{name:60} {min(times):8.2f} {statistics.median(times):8.2f}", flush=True)


def time_all(options):
    import torch
    from cuda.bindings import driver

    torch.zeros(1, device="cuda")  # the context
    shape, operands = None, []
    for line in (options.folder / "kernels.txt").read_text().splitlines():
        name, m, n, k, box_a, box_b, blocks, threads, shared = line.split()
        m, n, k = int(m), int(n), int(k)
        if shape != (m, n, k):
            shape, operands = (m, n, k), []
            for _ in range(10 if n * k <= 30e6 else 4):
                a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
                operands.append((a.bfloat16(), b.bfloat16(), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)))
            timed(f"cublas_{m}_{n}_{k}", lambda i, _: torch.mm(operands[i][0], operands[i][1], out=operands[i][2]),
                  len(operands))
        module = checked(driver.cuModuleLoadData((options.folder / f"{name}.cubin").read_bytes()))
        function = checked(driver.cuModuleGetFunction(module, b"k_matmul"))
        checked(driver.cuFuncSetAttribute(
            function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shared)))
        boxes = [tuple(map(int, box.split(","))) for box in (box_a, box_b)]
        kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, None, None)
        arguments = [((a.data_ptr(), b.data_ptr(), c.data_ptr(), tensor_map(a, boxes[0]), tensor_map(b, boxes[1])), kinds)
                     for a, b, c in operands]

        def launch(i, stream):
            checked(driver.cuLaunchKernel(function, int(blocks), 1, 1, int(threads), 1, 1, int(shared), stream,
                                          arguments[i], 0))

        a, b, c = operands[0]
        c.zero_()
        launch(0, 0)
        expected = a.float() @ b.float()
        if (c.float() - expected).abs().max() > 1e-2 * expected.abs().max():
            print(f"{name}: WRONG")
        timed(name, launch, len(operands))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=["compile", "time"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--deplo", default="build/release/bin/deplo")
    options = parser.parse_args()
    compile_all(options) if options.step == "compile" else time_all(options)


if __name__ == "__main__":
    main()
