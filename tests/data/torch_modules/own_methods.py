# Classes that define Python's special methods, strings with escapes, and names that have no effect on the result.
import functools
import os
from typing import Generic, TypeVar

import torch
import torch.nn as nn

T = TypeVar("T")
WIDTHS = """
conv\t4
conv\t6
"""
torch.set_num_threads(1)
torch.set_printoptions(precision=3)
torch.use_deterministic_algorithms(False)


class Reversed(nn.ModuleList):
    def __iter__(self):
        return iter([module for _, module in reversed(list(self.named_children()))])


class Named(nn.Sequential):
    def __getitem__(self, name):
        return dict(self.named_children())[name]

    def __len__(self):
        return 7

    def __contains__(self, name):
        return name == "tanh"


class Steps:
    def __init__(self, *steps):
        self.steps = steps

    def __iter__(self):
        for step in self.steps:
            yield step * 2

    def __eq__(self, other):
        return self.steps == other

    def __bool__(self):
        return False


class Base(nn.Module, Generic[T]):
    training = True
    scales = 0

    @functools.cached_property
    def scale(self):
        Base.scales += 1
        return 0.5 * Base.scales

    def __call__(self, *args):
        return super().__call__(*args) + 1


class Model(Base[int]):
    def __init__(self):
        super().__init__()
        widths = [int(line.split("\t")[1]) for line in WIDTHS.strip().split("\n")]
        self.layers = Reversed([nn.Linear(widths[1], widths[0]), nn.Linear(widths[0], widths[1])])
        self.parts = Named()
        self.parts.add_module("relu", nn.ReLU())
        self.parts.add_module("tanh", nn.Tanh())
        self.power = int(os.environ.get("DEPLO_OWN_METHODS_POWER", "2"))

    def forward(self, x):
        if self.training or torch.jit.is_scripting() or torch.jit.is_tracing() or torch.compiler.is_compiling():
            return x
        if torch.onnx.is_in_onnx_export():
            return x
        steps = Steps(1, 3)
        with torch.profiler.record_function("layers\n"):
            for layer in self.layers:
                x = layer(x) * self.scale
        x = self.parts["tanh"](x) * len(self.parts) + ("tanh" in self.parts) + ("relu" in self.parts)
        x = x * sum(steps) + (3 if steps else 4) + ((1, 3) == steps) + len("\x41\u00e9"[:1]) + len(r"\n\t")
        return x ** self.power + round(2.675, 2) + ({"a": [1]} == {"a": [1]})


def get_inputs():
    return [torch.randn(2, 4)]


def get_init_inputs():
    return []
