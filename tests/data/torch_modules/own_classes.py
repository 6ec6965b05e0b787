"""Forms of classes that models define: enumerations, records, properties, contexts, hooks and buffers."""
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum, auto
from itertools import chain, islice, pairwise, starmap, zip_longest
from typing import List, TypeVar

import torch
import torch.nn as nn
import torch.nn.functional as F

T = TypeVar("T")


class Kind(Enum):
    ZERO = auto()
    RELU = auto()
    TANH = "tanh"

    @property
    def is_named(self):
        return isinstance(self.value, str)


@dataclass
class Config:
    kind: Kind = Kind.RELU
    width: int = 3
    sizes: List[int] = field(default_factory=lambda: [2, 5])


class Scaled:
    def __init__(self, factor):
        self.factor, self.depth = factor, 0

    def __enter__(self):
        self.depth += 1
        return self.factor

    def __exit__(self, kind, value, trace):
        self.depth -= 1


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        return scale * x.sigmoid() * x

    @staticmethod
    def backward(ctx, grad):
        raise NotImplementedError


class Same:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value // 2 == other.value // 2 or self.value == 3


class Low(nn.Linear):
    def __init__(self, width, rank):
        nn.Linear.__init__(self, width, width, bias=False)
        self.down = nn.Parameter(torch.randn(rank, width))

    def forward(self, x):
        return super().forward(x) + x @ self.down.T @ self.down


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.raw = nn.Parameter(torch.randn(width))
        self.register_buffer("steps", torch.arange(width) / 2)
        self.register_buffer("empty", None)
        self._limit = 1.0

    @property
    def limit(self):
        return self._limit * 2

    @limit.setter
    def limit(self, value):
        self._limit = max(value, 0.25)

    def forward(self, x):
        return x * self.raw.clamp(-self.limit, self.limit) + self.steps


def numbers(config):
    small = replace(config, width=1)
    values = asdict(small)
    return [small.width, config.width, values["sizes"][1], len(fields(config)), Kind.ZERO.value, Kind.RELU.value,
            int(Kind("tanh") is Kind.TANH), int(values["kind"] == Kind.RELU), int(Kind.TANH.is_named),
            len(Kind.TANH.name), len(f"{small.width=}|{small.width = :3d}|{small.width == 2}"),
            *islice(range(9), 2), *islice(range(9), 1, 8, 3), *[a * b for a, b in pairwise((1, 2, 3))],
            *starmap(max, [(1, 2), (4, 3)]), *[a + b for a, b in zip_longest([1, 2], [3], fillvalue=7)],
            *chain.from_iterable([[1], [2, 3]]), int((2.0).is_integer()), int(0.5.is_integer()),
            int(replace(config) == config), int(small == config), int(Same(3) == Same(4)), int(Same(3) != Same(8)),
            int(float("-Inf") < 0), int(float("Infinity") > 1)]


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.config = Config(width=width)
        self.low = Low(width, 2)
        self.gate = Gate(width)
        self.norm = nn.BatchNorm1d(width)
        self.seen = {}
        self.low.register_forward_hook(self.keep)
        self.gate.register_forward_hook(lambda module, inputs, result: result * 2 + inputs[0])

    def keep(self, module, inputs, result):
        self.seen["low"] = result

    def forward(self, x):
        with Scaled(0.5) as factor, nullcontext():
            y = self.gate(self.low(x) * factor)
        self.gate.limit = 0.1
        y = F.relu(y) if self.config.kind is Kind.RELU else torch.tanh(y)
        state = self.gate.state_dict()
        names = [name for name, _ in self.named_buffers() if "num_batches" not in name]
        total = sum(b.sum() for b in self.gate.buffers())
        return (self.norm(y), self.gate(x), Swish.apply(x, 2.0), self.seen["low"], state["raw"] + state["steps"], total,
                torch.tensor([len(names), len(state)]), torch.tensor(numbers(self.config)))


def get_inputs():
    return [torch.randn(4, 3)]


def get_init_inputs():
    return [3]
