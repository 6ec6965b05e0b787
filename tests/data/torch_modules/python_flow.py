"""Mixins, `match`, functions that yield, buffers that are not saved, and parameters that share random numbers."""
from contextlib import contextmanager

import torch
from torch import nn


class Gated:
    gain = 0.5

    def gate(self, x):
        return x * torch.sigmoid(self.gain * x)


class Block(nn.Module):
    def __init__(self, width, act="relu"):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.act = act

    def forward(self, x):
        x = self.linear(x)
        match self.act:
            case "relu" | "relu6":
                return torch.relu(x)
            case ("leaky", slope):
                return nn.functional.leaky_relu(x, slope)
            case None:
                return x
            case other:
                raise ValueError(other)


class GatedBlock(Gated, Block):
    def forward(self, x):
        return self.gate(super().forward(x))


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width), GatedBlock(width, ("leaky", 0.2)), GatedBlock(width, act=None)])
        self.norm = nn.BatchNorm1d(width)
        self.register_buffer("scale", torch.arange(1.0, width + 1), persistent=False)
        self.depth = 0

    def steps(self):
        for i, block in enumerate(self.blocks):
            yield i + 1, block

    @contextmanager
    def deeper(self, by=1):
        self.depth += by
        yield self.depth
        self.depth -= by

    def forward(self, x):
        with self.deeper(2) as depth, self.deeper():
            for i, block in self.steps():
                x = x + block(x) * i / self.depth
        table = torch.tensor([float(n * n % 7) for n in range(24)]).reshape(4, 6)
        state = torch.tensor([len(self.state_dict()), self.depth, depth])
        ids = torch.tensor([12, 18, 35]).gcd(torch.tensor(8)), torch.tensor([4, 6]).lcm(torch.tensor([6, 0]))
        return self.norm(x) * self.scale, x[:, :4] @ table, state, *ids


def get_inputs():
    return [torch.randn(3, 6)]


def get_init_inputs():
    return [6]
