#!/usr/bin/env python3
"""Times PyTorch eager and torch.compile on the rows of suite84.yaml, by the protocol of docs/measurement.md as far as
Python allows. A sample is a batch of calls that rotate over copies of the operands (cold caches). Eager and compiled
alternate round by round. The result is the median, and the warm time is also given. The type is fp32 (TF32 is off), or
that of --dtype. On a GPU, a sample is the replay of a CUDA graph. On a CPU, it consists of calls from Python and
includes PyTorch's own time for a call.

  torch_suite.py --output torch.jsonl [--device cuda] [--deplo PROGRAM [--store FILE]]   measures, and prints the table
  torch_suite.py --table torch.jsonl [MORE.jsonl …]                                      only prints it

With --deplo, `PROGRAM run --bench` also times each row (by the schedules of --store, else the heuristic's), together
with the libraries that have it. Each line of the output is a JSON object; docs/measurement.md names the fields."""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

SUITE = pathlib.Path(__file__).resolve().parent.parent / "suite84.yaml"
SAMPLE_US, MAX_BATCH, COLD, MAX_SETS, MAX_BYTES = 1000, 64, 3, 64, 1 << 30  # as measure/protocol/protocol.h, operand_sets.h
LEAST, ROUNDS, MOST, WARM, TIE = 6, 15, 45, 5, 0.005
# Holds the device while the events and the graph are enqueued, as measure/cuda/clock.h does: else the first event is reached
# before the graph is there, and the host's time for it is in the sample. About half a millisecond, for Python.
HOLD_CYCLES = 1_000_000
# By --dtype: PyTorch's name of it, deplo's word for the precision, and how far two of PyTorch's own results may be apart:
# fp32's usual 1e-3, eight roundings of the others (2^-11 and 2^-8) where a graph keeps what eager rounds.
DTYPES = {"f32": ("float32", "fp32", 1e-3), "f16": ("float16", "f16", 4e-3), "bf16": ("bfloat16", "bf16", 3.2e-2)}
PROTOCOL = "torch v1: batches of 1000 us / 64, cold operands by rotation (3 L2), 15 to 45 rounds, warm 5"


def rows(suite, pattern):
    text = pathlib.Path(suite).read_text(encoding="utf-8")
    found = re.findall(r'^  - \{name: (\S+), expression: "(.*)"\}$', text, re.M)
    expected = text.count("\n  - ")
    assert len(found) == expected, "expected %d expressions in %s, found %d" % (expected, suite, len(found))
    return [row for row in found if re.search(pattern, row[0])]


def read_sysfs_cache():
    """Bytes of the last cache of the first core; 0 where Linux does not say."""
    sizes = pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    return max([int(s.read_text().strip().rstrip("K")) * 1024 for s in sizes], default=0)


class Device:
    def __init__(self, torch, kind, threads, dtype):
        self.torch, self.kind, self.dtype = torch, kind, dtype
        self.precision, self.tolerance = DTYPES[dtype][1:]
        torch.set_default_dtype(getattr(torch, DTYPES[dtype][0]))
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        if kind == "cuda":
            properties = torch.cuda.get_device_properties(0)
            self.name, self.l2, self.threads = properties.name, properties.L2_cache_size, 0
        else:
            torch.set_num_threads(threads or len(os.sched_getaffinity(0)))
            model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
            self.name = model.group(1) if model else platform.processor()
            self.l2, self.threads = read_sysfs_cache(), torch.get_num_threads()

    def batch(self, function, sets, count):
        """A callable that takes one sample of `count` calls: microseconds a call."""
        def calls():
            for i in range(count):
                function(*sets[i % len(sets)])
        if self.kind != "cuda":
            def on_cpu():
                start = time.perf_counter_ns()
                calls()
                return (time.perf_counter_ns() - start) / 1000 / count
            return on_cpu
        torch = self.torch
        stream = torch.cuda.Stream()  # PyTorch asks for a warm-up on another stream before a capture
        with torch.cuda.stream(stream):
            function(*sets[0])
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            calls()

        def on_gpu():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(HOLD_CYCLES)
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            return begin.elapsed_time(end) * 1000 / count
        return on_gpu


def parse(torch, expression):
    """The function of an expression's last statement and its operands' values."""
    *givens, result = expression.split("; ")
    scope = {"torch": torch, "F": torch.nn.functional}
    names = [given.split(" = ")[0] for given in givens]
    for given in givens:
        exec(given, scope)  # noqa: S102: our own file
    return eval("lambda %s: %s" % (", ".join(names), result), scope), [scope[n] for n in names]  # noqa: S307


def copies(operands, result, l2):
    bytes_ = sum(t.nbytes for t in operands) + result.nbytes
    count = max(1, min(MAX_SETS, math.ceil(COLD * l2 / bytes_), MAX_BYTES // bytes_))
    return [operands] + [[t.clone() for t in operands] for _ in range(count - 1)]


def settled(samples):
    """Whether the 95 % interval of the median (order statistics) is as narrow as a tie."""
    n = len(samples)
    k = max([k for k in range(1, n // 2 + 1) if sum(math.comb(n, i) for i in range(k)) <= 0.025 * 2 ** n], default=0)
    ordered = sorted(samples)
    return k > 0 and ordered[n - k] - ordered[k - 1] <= 2 * TIE * statistics.median(samples)


def measure(device, functions, expression, seconds):
    """{variant: fields} of one row; interleaved."""
    torch = device.torch
    torch.manual_seed(0)
    torch._dynamo.reset()
    plain, operands = parse(torch, expression)
    operands = [t.to(device.kind) for t in operands]
    expected = plain(*operands)
    sets, result, batches = copies(operands, expected, device.l2), {}, {}
    for variant, prepare in functions.items():
        fields = result[variant] = {"status": "ok", "message": "", "samples": [], "sets": len(sets)}
        try:
            function = prepare(plain)
            torch.testing.assert_close(function(*operands), expected, rtol=device.tolerance, atol=device.tolerance)
            us = statistics.median(device.batch(function, sets, 1)() for _ in range(3))
            fields["batch"] = max(1, min(MAX_BATCH, int(SAMPLE_US / us)))
            batches[variant] = (device.batch(function, sets, fields["batch"]),
                                device.batch(function, sets[:1], fields["batch"]))
            batches[variant][0]()
        except Exception as error:  # noqa: BLE001: of any kind, it is this row's result
            fields.update(status="build_error", message=str(error).strip().split("\n")[0][:200])
    end = time.monotonic() + seconds
    for number in range(MOST):
        order = sorted(batches, reverse=number % 2 == 1)
        for variant in order:
            result[variant]["samples"].append(batches[variant][0]())
        if number + 1 >= LEAST and time.monotonic() > end:
            break
        if number + 1 in (ROUNDS, 2 * ROUNDS) and all(settled(result[v]["samples"]) for v in batches):
            break
    for variant, (_, warm) in batches.items():
        samples = result[variant]["samples"]
        result[variant]["median_us"] = statistics.median(samples)
        result[variant]["warm_us"] = statistics.median(warm() for _ in range(WARM)) if len(sets) > 1 else None
    return result


def ours(program, store, device, expression, seconds):
    """By `deplo run --bench`, whose own confirmation times each kernel; several kernels as a whole by `run --whole`."""
    name = "cuda" if device.kind == "cuda" else "opencl"
    command = [program, "run", "--bench", "--json", "-c", expression, "--dtype", device.dtype, "--time", str(seconds),
               "--device", name] + (["--store", store] if store else [])
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ran.stdout:
        return {"status": "launch_error", "message": ran.stderr.strip()[:200], "samples": []}
    report = json.loads(ran.stdout)
    kernels = [report["kernels"][k["first"]] for k in report["kernels"]]
    failures = [k["failure"] for k in kernels if "failure" in k]
    if failures:
        return {"status": "launch_error", "message": failures[0][:200], "samples": []}
    one = len(kernels) == 1
    libraries = {b["library"]: b["microseconds"] for b in kernels[0]["baselines"]
                 if one and b["precision"] == device.precision and "microseconds" in b and "date" not in b}
    fields = {"status": "ok", "message": "", "samples": kernels[0]["samples_us"] if one else [],
              "median_us": report["ours_us"], "kernels": len(kernels), "schedule": "store" if store else "heuristic",
              "libraries": libraries}
    if not one:  # as eager runs it: what a kernel leaves in the caches is there for the next
        command = [program, "run", "--whole", "--json", "-c", expression, "--dtype", device.dtype, "--device", name]
        ran = subprocess.run(command + (["--tuned", store] if store else []), capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            return {"status": "launch_error", "message": (ran.stderr or ran.stdout).strip()[:200], "samples": []}
        whole = json.loads(ran.stdout)
        fields.update(median_us=whole["microseconds"], warm_us=whole["warm_us"], samples=whole["samples_us"],
                      sum_us=report["ours_us"])
    return fields


def print_table(lines):
    """Rows by name: ours and the others, and how many times ours each of these takes."""
    table, others = {}, []
    for line in lines:
        row = table.setdefault(line["kernel"], {})
        for variant, us in {line["variant"]: line.get("median_us"), **line.get("libraries", {})}.items():
            row[variant] = us
            if variant != "ours" and variant not in others:
                others.append(variant)

    def cell(value):
        return "-" if value is None else "%.4g" % value

    def ratio(row, variant):
        return row[variant] / row["ours"] if row.get(variant) and row.get("ours") else None
    titles = ["ours µs"] + [v + " µs" for v in others] + [v + "/ours" for v in others]
    print("%-36s" % "kernel" + "".join("%13s" % title for title in titles))
    for name, row in table.items():
        cells = [cell(row.get(v)) for v in ["ours"] + others] + [cell(ratio(row, v)) for v in others]
        print("%-36s" % name + "".join("%13s" % c for c in cells))
    for variant in others:
        ratios = [r for r in (ratio(row, variant) for row in table.values()) if r]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print("geometric mean of %s/ours over %d rows: %.3g; ours is faster in %d"
                  % (variant, len(ratios), mean, sum(r > 1 for r in ratios)))


def read_lines(files):
    return [json.loads(line) for file in files for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()]


def measure_both(args, device, functions, expression):
    fields = measure(device, functions, expression, args.seconds)
    if args.deplo:
        fields["ours"] = {**ours(args.deplo, args.store, device, expression, args.seconds),
                          "library": "deplo", "version": args.deplo_version, "protocol": "deplo run --bench"}
    return fields


def measure_all(args):
    import torch  # only here: the table needs none
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch_suite.py: expected a GPU that PyTorch can use, found none")
    device = Device(torch, args.device, args.threads, args.dtype)
    torch.set_grad_enabled(False)
    variants = {"eager": lambda f: f, "compile": lambda f: torch.compile(f, dynamic=False)}
    functions = {v: variants[v] for v in args.variants.split(",")}
    common = {"library": "PyTorch", "version": torch.__version__, "device": device.name, "threads": device.threads,
              "precision": device.precision, "protocol": PROTOCOL}
    measured, lines = {}, read_lines([args.output]) if args.resume and os.path.exists(args.output) else []
    known = {line["kernel"] for line in lines}
    interrupted = False
    with open(args.output, "a" if args.resume else "w", encoding="utf-8") as output:
        for name, expression in rows(args.suite, args.only):
            if name in known or "%s.%s" % (name, args.dtype) in known:
                continue
            try:
                if expression not in measured:  # q_proj and o_proj, gate_proj and up_proj: one measurement
                    measured[expression] = (name, measure_both(args, device, functions, expression))
            except KeyboardInterrupt:  # the rows so far are a result
                interrupted = True
                break
            first, fields = measured[expression]
            row = []
            for variant, of in fields.items():
                date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
                kernel = name if args.dtype == "f32" else "%s.%s" % (name, args.dtype)  # as an experiment's dtype names it
                line = {"kernel": kernel, "variant": variant, **common, **of, "date": date, "expression": expression}
                line.update({"as": first} if first != name else {})
                line["samples"] = [round(s, 3) for s in of["samples"]]
                row.append(line)
            lines.extend(row)
            output.write("".join(json.dumps(line) + "\n" for line in row))  # whole: a row is there or is not
            output.flush()
            print(name, {v: round(f["median_us"], 1) if "median_us" in f else f["message"] for v, f in fields.items()},
                  file=sys.stderr)
    print_table(lines)
    if interrupted:
        sys.exit(130)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", help="JSON lines are written there")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print the table of what these files hold")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--dtype", choices=list(DTYPES), default="f32", help="of floats [f32]")
    parser.add_argument("--threads", type=int, default=0, help="of a CPU [as many as the process may use]")
    parser.add_argument("--suite", default=SUITE, metavar="FILE", help="an experiment of expressions [suite84.yaml]")
    parser.add_argument("--resume", action="store_true", help="go on in the output: its rows are not measured again")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name matches")
    parser.add_argument("--variants", default="eager,compile")
    parser.add_argument("--seconds", type=float, default=5, help="of rounds for each row; six rounds always run [5]")
    parser.add_argument("--deplo", metavar="PROGRAM")
    parser.add_argument("--store", metavar="FILE")
    args = parser.parse_args()
    if bool(args.output) == bool(args.table):
        parser.error("expected either --output or --table")
    if args.table:
        print_table(read_lines(args.table))
        return
    if args.deplo:
        args.deplo_version = subprocess.run([args.deplo, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    measure_all(args)


if __name__ == "__main__":
    main()
