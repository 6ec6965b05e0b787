"""What files of models have besides modules: unused imports, positions made by numpy, base classes by their names."""
from __future__ import annotations

import gc
import inspect
import json
import re
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


def positions(width, size):
    axis = np.arange(size, dtype=np.float64)
    grid = np.stack(np.meshgrid(axis, 2 * axis), axis=0).reshape([2, 1, size, size])
    halves = []
    for part in grid:
        omega = np.arange(width // 4, dtype=np.float64)
        omega /= width / 4.0
        angles = np.einsum("m,d->md", part.reshape(-1), 1.0 / 100 ** omega)
        halves.append(np.concatenate([np.sin(angles), np.cos(angles)], axis=1))
    table = np.concatenate([np.zeros([1, width]), np.concatenate(halves, axis=1)])
    return table, np.outer(np.sqrt(np.exp(np.log(np.linspace(1.0, 2.0, 3)))), axis)


class LoRA(nn.Linear):
    def __init__(self, width, rank):
        nn.Linear.__init__(self, width, width)
        self.a = nn.Parameter(torch.randn(rank, width))
        self.b = nn.Parameter(torch.randn(width, rank))
        self.reset_parameters()

    def reset_parameters(self):
        nn.Linear.reset_parameters(self)

    def train(self, mode: bool = True):
        return nn.Module.train(self, mode)

    def forward(self, x):
        return nn.Linear.forward(self, x) + F.linear(F.linear(x, self.a), self.b)

    def options(self):
        return json.loads(Path("options.json").read_text()), inspect.signature(self.forward), re.sub("a", "", "b")


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lora = LoRA(width, 2)

    def forward(self, x):
        torch._assert(x.dim() == 2, "a matrix")
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(x)
        table, products = positions(8, 2)
        strides = torch.tensor([8.0, 16.0])
        filled = torch.cat([torch.full((2,), s) for s in strides] + [torch.full_like(x[0], strides[1])])
        counts = torch.full((2,), torch.tensor(3))
        numbers = torch.tensor([float(n) for n in (np.sin(0.5), np.cos(1), np.exp(1.0), np.log(2.0), np.sqrt(9))])
        table = torch.from_numpy(table).to(x.dtype)[(*((None,) * 2), Ellipsis)]
        return (self.lora(x), table, torch.from_numpy(products), filled, counts, counts / 2, numbers,
                F.leaky_relu(x, torch.tensor(0.25)))


def get_inputs():
    return [torch.randn(3, 4)]


def get_init_inputs():
    return [4]
