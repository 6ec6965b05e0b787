"""What modules take from Python's library, einops and numpy."""
import functools
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import List, NamedTuple, Optional, cast

import einops
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, reduce
from einops.layers.torch import Rearrange, Reduce
from torch.autograd import Variable
from torch.nn.modules.module import Module
from torch.nn.modules.utils import _pair, _single, _triple
from torch.utils.checkpoint import checkpoint


@dataclass(frozen=True)
class Base:
    width: int
    depth: int = 2


@dataclass(frozen=True)
class Config(Base):
    sizes: List[int] = field(default_factory=lambda: [3, 4])
    scale: float = field(default=0.5)
    bias: Optional[bool] = None

    @property
    def area(self):
        return self.width * self.depth


@dataclass
class Summed:
    a: int
    b: int = 5

    def __post_init__(self):
        self.total = self.a + self.b


class Cache(NamedTuple):
    keys: torch.Tensor
    count: int = 7


Point = namedtuple("Point", ["x", "y"])


def twice(function):
    @functools.wraps(function)
    def run(*args):
        return 2 * function(*args)
    return run


@functools.lru_cache(maxsize=None)
def shift(n):
    return n + 1


def half(x):
    return x / 2


halved = torch.jit.script(half)


class Vector:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Vector(self.x + other.x)

    def __rmul__(self, other):
        return Vector(other * self.x)

    def __neg__(self):
        return Vector(-self.x)

    def __getitem__(self, i):
        return self.x[i]

    def __len__(self):
        return self.x.shape[0]


class Normed(Module):
    def __init__(self, width):
        super().__init__()
        self.register_parameter("gain", nn.Parameter(torch.eye(width) + 0.1 * torch.randn(width, width)))

    @twice
    def forward(self, x):
        return x @ self.gain


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.normed = Normed(config.width)
        self.patches = nn.Sequential(Rearrange("b c (h p) w -> b h (p w c)", p=2), Reduce("b n c -> b c", "mean"))
        layers = nn.ModuleList()
        for n in config.sizes:
            layers.append(nn.Linear(n, n))
        self.mlp = nn.ModuleList([nn.Sequential(layers[0], nn.ReLU())]) + nn.ModuleList([layers[1]])
        self.mlp += [nn.Identity(54, unused=True)]
        self.named = nn.ModuleDict([["a", nn.Linear(3, 2)]])
        self.named.update({"b": nn.Linear(2, 2)})
        for p in self.named.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p, gain=nn.init.calculate_gain("relu"))
        self.named["a"].reset_parameters()
        self.reflected = nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect")
        self.circular = nn.Conv1d(2, 2, 4, padding="same", padding_mode="circular")
        self.replicated = nn.Conv2d(2, 1, (3, 1), padding=(2, 0), stride=2, padding_mode="replicate")
        self.lstm = nn.LSTM(3, 2)
        self.norm = nn.LayerNorm(3)
        self.offset = nn.Buffer(torch.ones(2, 1))
        self.zero_grad()
        self.named["b"].register_forward_pre_hook(lambda module, inputs: (inputs[0] * 3,))

    def numbers(self, x):
        point = Point(3, y=4)
        a, b = point
        namespace = SimpleNamespace(n=5)
        items = iter([7, 8, 9])
        total = next(items) + next(items) + next(iter([]), 6)
        if (n := x.shape[0]) > 1:
            total += n
        text = "{0}-{name:.1f}-{{}}".format(1, name=2.0) + "%d_%s %.2f%%" % (3, "a", 0.5)
        cfg = self.config
        return [point.x, a, b, namespace.n, total, len(text), int(text == "1-2.0-{}3_a 0.50%"), cfg.area, cfg.scale,
                len(cfg.sizes), int(cfg.bias is None), Summed(2).total, Summed(b=1, a=1).total, shift(3), cast(int, 4),
                *_pair(3), *_single(2), *_triple((1, 2, 3)), self.reflected.kernel_size[1], self.replicated.padding[0], self.norm.normalized_shape[0]]

    def forward(self, x, image):
        self.lstm.flatten_parameters()
        x = Variable(x)
        cache = Cache(keys=x)
        sums = (Vector(cache.keys) + -(2 * Vector(x)))[0] * len(Vector(x)) * cache.count
        y = self.normed(x[:, :3])
        y = checkpoint(self.mlp[0], y, use_reentrant=False)
        y = self.named["b"](self.named["a"](y))
        z = x.clone()
        z[z < 0] *= 0.25
        median, extremes = x.median(1), torch.aminmax(x, dim=1)
        made = torch.from_numpy(np.array([1, 2, 3, 4]).astype(np.float32)) + torch.tensor(np.ones((1, 4)))
        made = made * np.float32(2) if False else made.type(torch.FloatTensor)[:, np.newaxis]
        image = F.dropout2d(F.dropout3d(image, 0.1, self.training), 0.1, training=self.training)
        image = F.feature_alpha_dropout(F.alpha_dropout(image, 0.1), 0.1)
        x = halved(2 * F.dropout1d(x, training=self.training))
        signs = torch.BoolTensor([True, False]) | (x[:, 0] > 9)
        return (torch.tensor([float(n) for n in self.numbers(x)]), sums, y, z, self.mlp[1](x), self.mlp[2](x),
                median.values + median.indices, extremes.max - extremes.min, x.kthvalue(2, dim=1).values,
                x.cummax(1).values, made.float(), self.patches(image),
                reduce(image, "b c (h 2) w -> c h b", "max") if False else reduce(image, "b c (h p) w -> c h b", "max", p=2),
                reduce(image, "b c h w -> b 1 h 1", torch.var), einops.einsum(x, x, "batch i, other i -> batch other"),
                torch.cartesian_prod(x[0], x[1]), torch.special.expit(x), F.softmax(image[0]), x.H,
                F.interpolate(image, size=(3, 5), mode="area"), self.reflected(image), self.circular(image[:, :, 0]),
                self.replicated(image), x[:, torch.LongTensor([0, 3])], signs.float() + torch.IntTensor([1, 2]),
                torch.spmm(torch.tensor(np.asarray([[1.0, 2.0]])), x - self.offset), self.lstm(x[None, :, :3])[0])


def get_inputs():
    return [torch.randn(2, 4), torch.randn(2, 2, 4, 6)]


def get_init_inputs():
    return [Config(3)]
