#!/usr/bin/env python3
"""Times models of transformers and torchvision as whole graphs in comparison with PyTorch.

    python3 experiments/model_times.py --output FILE.jsonl [--only 'resnet*'] [--tuned STORE] [--rounds 3]

Each model is made from its configuration with random weights (nothing is downloaded; most have fewer layers than the
published ones), exported by torch.export, and run by both. deplo runs the .pt2 file (`deplo run --whole --pt2`): all kernels
in sequence, operands cold. PyTorch's eager time is the median of calls of the exported program's module. Rounds alternate
between the two, and the table has the medians of the rounds. `first` is the seconds of a first `deplo run` with an empty
cache: reading, fusing, building all kernels. `error` is the largest difference from PyTorch's outputs, relative to their
root mean square.

Each model becomes one line of JSON in --output. A model that is already there is not measured again. Needs PyTorch,
transformers and torchvision.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SECONDS = 2.0  # of PyTorch in each round
THREADS = 2


def text(cls, config, **sizes):
    """A model of transformers on 128 tokens, or the given `batch` and `tokens`."""
    batch, tokens = sizes.pop("batch", 1), sizes.pop("tokens", 128)

    def make(torch, transformers):
        configuration = getattr(transformers, config)(**sizes)
        configuration.use_cache = False
        return getattr(transformers, cls)(configuration), (torch.randint(0, 1000, (batch, tokens)),)
    return make


def image(cls, config, **sizes):
    return lambda torch, transformers: (getattr(transformers, cls)(getattr(transformers, config)(**sizes)),
                                        (torch.randn(1, 3, 224, 224),))


def vision(name):
    def make(torch, transformers):
        import torchvision
        return getattr(torchvision.models, name)(), (torch.randn(1, 3, 224, 224),)
    return make


def whisper_encoder(torch, transformers):
    sizes = {"d_model": 384, "encoder_layers": 4, "encoder_attention_heads": 6, "encoder_ffn_dim": 1536}
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return WhisperEncoder(transformers.WhisperConfig(**sizes)), (torch.randn(1, 80, 3000),)


MODELS = {
    "minilm": text("BertModel", "BertConfig", hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                   intermediate_size=1536),
    "bert_base": text("BertModel", "BertConfig"),
    "bert_4_batch_8": text("BertModel", "BertConfig", num_hidden_layers=4, batch=8, tokens=64),
    "modernbert_6": text("ModernBertModel", "ModernBertConfig", num_hidden_layers=6),
    "t5_encoder": text("T5EncoderModel", "T5Config"),
    "clip_text_6": text("CLIPTextModel", "CLIPTextConfig", num_hidden_layers=6, tokens=77),
    "gpt2_6": text("GPT2LMHeadModel", "GPT2Config", n_layer=6),
    "qwen3_6": text("Qwen3ForCausalLM", "Qwen3Config", hidden_size=1024, intermediate_size=3072, num_hidden_layers=6,
                    num_attention_heads=16, num_key_value_heads=8, head_dim=128, vocab_size=32000),
    "whisper_tiny_encoder": whisper_encoder,
    "vit_base_6": image("ViTModel", "ViTConfig", num_hidden_layers=6),
    **{name: vision(name) for name in ("resnet50", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny", "swin_t")},
}


def export(name, folder):
    """Writes NAME.pt2. Returns the program's module and its inputs."""
    import torch
    import transformers

    class First(torch.nn.Module):  # the first output, as a tensor
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            output = self.model(*inputs)
            return output if isinstance(output, torch.Tensor) else output[0]

    torch.manual_seed(0)
    model, inputs = MODELS[name](torch, transformers)
    program = torch.export.export(First(model.eval().requires_grad_(False)), inputs)
    torch.export.save(program, folder / f"{name}.pt2")
    return program.module(), inputs


def median_ms(call):
    import torch

    times = []
    with torch.no_grad():
        call()
        begin = time.perf_counter()
        while len(times) < 5 or time.perf_counter() - begin < SECONDS:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def deplo(options, name, folder, *flags, cache=None):
    command = [options.deplo, "run", "--pt2", str(folder / f"{name}.pt2"), "--device", options.device, "--json", *flags]
    command += ["--tuned", str(options.tuned)] if options.tuned else []
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)} if cache else None
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if not done.stdout.strip():
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return json.loads(done.stdout)


def error_of(found, expected):
    import torch

    scale = expected.double().square().mean().sqrt().item() or 1.0
    return (found.double() - expected.double()).abs().max().item() / scale


def measure(options, name, folder):
    import numpy
    import torch

    module, inputs = export(name, folder)
    with torch.no_grad():
        expected = module(*inputs)
    names = deplo_inputs(options, name, folder)
    numpy.savez(folder / "inputs.npz", **{n: x.numpy() for n, x in zip(names, inputs)})
    start = time.perf_counter()
    deplo(options, name, folder, "--inputs", str(folder / "inputs.npz"), "--outputs", str(folder / "outputs"),
          "--no-measure", cache=folder / "cache")
    first = time.perf_counter() - start
    [output] = (folder / "outputs").glob("*.npy")
    error = error_of(torch.from_numpy(numpy.load(output)), expected)
    ours, eager = [], []
    for _ in range(options.rounds):
        eager.append(median_ms(lambda: module(*inputs)))
        run = deplo(options, name, folder, "--whole", cache=folder / "cache")
        ours.append(run["microseconds"] / 1e3)
    return {"model": name, "kernels": len(run["kernels"]), "error": error, "first_s": first,
            "deplo_ms": statistics.median(ours), "eager_ms": statistics.median(eager), "device": run["device"],
            "target": run["target"], "torch": torch.__version__}


def deplo_inputs(options, name, folder):
    """The names of the program's inputs, in order."""
    listing = subprocess.run([options.deplo, "compile", "--ir", "torch", "--pt2", str(folder / f"{name}.pt2")],
                             capture_output=True, text=True, check=True).stdout
    lines = listing.split("inputs:\n", 1)[1].splitlines()
    names = []
    for line in lines:
        if ": (" not in line or line.endswith(":"):
            break
        names.append(line.split(":")[0].strip())
    return names


def line(r):
    if "failure" in r:
        return f"{r['model']:22}{r['failure'][:90]}"
    return (f"{r['model']:22}{r['kernels']:>8}{r['error']:>10.1e}{r['first_s']:>9.1f}{r['deplo_ms']:>11.2f}"
            f"{r['eager_ms']:>11.2f}{r['eager_ms'] / r['deplo_ms']:>9.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="*")
    parser.add_argument("--deplo", default="build/release/bin/deplo")
    parser.add_argument("--device", default="opencl")
    parser.add_argument("--tuned", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    import torch
    torch.set_num_threads(THREADS)
    known = [json.loads(l) for l in options.output.read_text().splitlines()] if options.output.exists() else []
    print(f"{'model':22}{'kernels':>8}{'error':>10}{'first s':>9}{'deplo ms':>11}{'eager ms':>11}{'ratio':>9}")
    results = []
    for name in MODELS:
        if not fnmatch.fnmatch(name, options.only):
            continue
        result = next((r for r in known if r["model"] == name), None)
        if result is None:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    result = measure(options, name, pathlib.Path(folder))
                except RuntimeError as failure:
                    result = {"model": name, "failure": str(failure)}
            with options.output.open("a") as file:
                print(json.dumps(result), file=file)
        results.append(result)
        print(line(result), flush=True)
    timed = [r["eager_ms"] / r["deplo_ms"] for r in results if "failure" not in r]
    if timed:
        print(f"geometric mean of eager / deplo over {len(timed)} models: {statistics.geometric_mean(timed):.2f}")
    return 0 if len(timed) == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
