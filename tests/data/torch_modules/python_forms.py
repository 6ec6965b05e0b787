"""Python that modules are written in."""
from __future__ import annotations

import math
from collections import OrderedDict
from functools import partial
from typing import Callable, Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

try:
    from flash_attn import flash_attn_func
except (ImportError, ModuleNotFoundError) as error:
    flash_attn_func = None
else:
    raise RuntimeError("a library that is not installed")

WIDTH: int = 4
SIZES = {"small": 1, "large": 2}


class Config:
    scale = 0.5

    def __init__(self, width: int = WIDTH, **others):
        self.width = width
        self.others = others

    @staticmethod
    def double(x):
        return 2 * x

    @classmethod
    def default(cls):
        return cls(width=WIDTH, bias=True)

    def __call__(self, x):
        return x * self.scale


class Scale(nn.Module):
    def __init__(self, factor: float = 2.0):
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        return x * self.factor


class Shifted(Scale):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 1


class Model(nn.Module):
    activations: Dict[str, Callable] = {"relu": F.relu, "tanh": torch.tanh}

    def __init__(self, kind: str = "relu", *sizes: int, norm: Optional[Callable] = None) -> None:
        super().__init__()
        self.config = Config.default()
        norm = norm or partial(nn.LayerNorm, eps=1e-6)
        self.body = nn.Sequential(OrderedDict([("first", nn.Linear(WIDTH, sizes[0])), ("norm", norm(sizes[0]))]))
        self.heads = nn.ModuleDict({name: nn.Linear(sizes[0], n) for name, n in SIZES.items() if n > 0})
        self.act = self.activations[kind]
        self.shift = Shifted(factor=0.5)
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            setattr(self, f"layer{i}", nn.Linear(a, b))
        self.count = len(sizes) - 1
        self.register_buffer("steps", torch.arange(3, dtype=torch.float32))

    def forward(self, x: Tensor, flip: bool = False) -> Tuple[Tensor, ...]:
        y = self.config(self.act(self.body(x)))
        total = None
        for i in range(self.count):
            y = getattr(self, f"layer{i}")(y)
            if i == 1:
                continue
            total = y.sum() if total is None else total + y.sum()
        n = 0
        while True:
            n += 1
            if n >= 3:
                break
        else:
            raise RuntimeError("not reached")
        shift = self.shift(y)
        shift[:, 0] = 0
        shift[0, 1:3] += self.steps[1:]
        shift.clamp_(min=-1)
        results = {name: head(F.pad(y, (0, 1))[:, :self.heads["small"].in_features])
                   for name, head in self.heads.items()}
        a, *rest = [v.mean(dim=-1) for v in results.values()]
        best = max(rest, key=None) if False else rest[-1]
        assert not flip and 1 <= n <= 3 and "small" in results, "unexpected"
        return total * n, shift, a + best, y.reshape(-1)[::2] ** Config.double(1)


def get_inputs():
    return [torch.randn(2, WIDTH)]


def get_init_inputs():
    return ["tanh", 6, 5, 6, 5]
