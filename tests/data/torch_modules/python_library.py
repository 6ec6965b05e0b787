"""Python's functions and methods, and those of modules: the numbers that they give."""
import copy
import math
from collections import OrderedDict
from functools import reduce
from itertools import chain, product, repeat

import numpy as np
import torch
import torch.nn as nn


def lists():
    numbers = list(range(5)) + [x for x in tuple(range(3, 0, -1))]
    numbers.append(7)
    numbers.extend([1, 2])
    numbers.insert(1, 9)
    last = numbers.pop()
    first = numbers.pop(0)
    numbers.reverse()
    other = numbers.copy()
    other.clear()
    unique = set(numbers)
    yes = all(n >= 0 for n in numbers) and any(n == 9 for n in numbers)
    return [last, first, len(other), len(unique), numbers.index(9), numbers.count(1), int(yes), numbers[::2][1],
            sum(numbers, 10), max(numbers), min(3, 2), *sorted(numbers, key=lambda n: -n)[:2], *reversed(numbers[-2:]),
            sum(i * n for i, n in enumerate(numbers, start=1)), sum(a * b for a, b in zip(numbers, numbers[1:])),
            *map(lambda a, b: a - b, (5, 6), [1, 3]), *filter(lambda n: n > 7, numbers),
            *sorted([3, 1, 2], reverse=True),
            *chain([1], (2, 3)), *[a * b for a, b in product([1, 2], (3, 4))], *repeat(6, 2),
            reduce(lambda a, b: a * b, [1, 2, 3, 4]), *divmod(-7, 3), torch.zeros(2, 3).shape.numel(), 7 // 2 * -1 % 5]


def dicts():
    d = dict(a=1, b=2)
    d.update({"c": 3}, e=5)
    d["a"] += 10
    d.setdefault("f", 6)
    d.setdefault("a", 0)
    o = OrderedDict([("x", 1), ("y", 2)])
    copied = d.copy()
    removed = copied.pop("b", None)
    return [*d.values(), len(d.keys()), removed, len(copied), d.get("z", -1), sum(v for k, v in o.items() if k in "xz"),
            int("y" in o), int("q" not in d), {(1, 2): 3}[(1, 2)]]


def strings():
    s = "  Conv2d,ReLU "
    parts = s.strip().split(",")
    name = "_".join(p.lower() for p in parts).replace("2d", "")
    return [len(s), len(parts), int(parts[0].startswith("Conv")), int(parts[1].endswith("U")), len(name),
            int(name == "conv_relu"), int(name.upper() == "CONV_RELU"), len(f"{3.14159:.2f}{7:3d}{name!r}{{}}"),
            int("12"),
            len(str(1.0)), int(str((1, "a")) == "(1, 'a')"), len("a" "b"), int(f"{2}x" in "12x4")]


def numbers():
    return [math.log2(8), math.log10(100.0), math.log1p(0.5), math.tan(0.5), math.atan(2), math.erf(0.25),
            math.fabs(-3),
            math.gcd(12, 18), math.prod([2, 3.5]), np.array(4.0), int(np.isinf(1.0)), np.log2(4), np.pi, round(2.5),
            round(2.567, 1), 7.5 // 2, -7.5 % 2, 2 ** 0.5, 5 ^ 3, 6 & 3, 6 | 1, 1 << 4, ~2, float("2.5"), abs(-2.5),
            1 if 0 < 1 < 2 else 0, (None or 3), (2 and 4), int(not 1), int(None is None)]


marker = object()


class Plain(object):
    count = 3

    def __init__(self):
        self.total = 0

    def add(self, n):
        self.total += n
        return self


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_parameter("gain", nn.Parameter(torch.ones(width)))
        self.add_module("act", nn.Tanh())

    def forward(self, x):
        return self.act(self.linear(x)) * self.gain


def changed(m):
    if type(m) == nn.Linear:
        nn.init.normal_(m.weight, std=0.02)
        nn.init.zeros_(m.bias)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width)])
        self.blocks.append(copy.deepcopy(self.blocks[0]))
        self.blocks.extend([nn.Identity()])
        self.blocks.insert(0, nn.ReLU())
        self.named = nn.ModuleDict({"a": nn.Linear(width, 2)})
        self.named["b"] = nn.Linear(width, 2)
        self.register_module("last", nn.Sequential(nn.Linear(2, 2), nn.Sigmoid()))
        self.scale = nn.Parameter(torch.Tensor(width))
        self.apply(changed)
        with torch.no_grad():
            self.scale.uniform_(0, 1)
            self.scale.fill_(0.5)
            nn.init.uniform_(self.scale)
            nn.init.ones_(self.scale)
            nn.init.constant_(self.scale, 2.0)
        for init in (nn.init.xavier_uniform_, nn.init.xavier_normal_, nn.init.kaiming_uniform_, nn.init.kaiming_normal_,
                     nn.init.orthogonal_, nn.init.trunc_normal_):
            init(self.named["a"].weight)
        nn.init.xavier_normal_(self.last[0].weight)
        nn.init.kaiming_uniform_(self.last[0].weight, a=math.sqrt(5))
        nn.init.orthogonal_(self.last[0].weight)
        nn.init.xavier_uniform_(self.last[0].weight, gain=0.5)
        nn.init.kaiming_normal_(self.last[0].weight, mode="fan_out")
        nn.init.trunc_normal_(self.last[0].weight, std=0.1)
        self.to("cpu")

    def counts(self):
        return [len(list(self.modules())), len(list(self.children())), len(list(self.parameters())),
                len(dict(self.named_parameters())), len(list(self.named_modules())), len(self.named.keys()),
                len(list(self.named.values())), len([k for k, v in self.named.items()]), len(self.blocks[1:3]),
                int(isinstance(self.blocks[0], (nn.ReLU, nn.Tanh))), int(hasattr(self, "named")),
                int(hasattr(self, "no")),
                getattr(self, "no", 5), int(callable(len)), int(isinstance([1], list)),
                int(isinstance(2, (str, float))),
                int(torch.is_tensor(self.scale)), int(isinstance(self.scale, nn.Parameter)),
                torch.arange(6)[slice(1, 4)].sum().item(), sum(torch.eye(2).tolist()[0]), int(torch.arange(3)[2])]

    @torch.no_grad()
    def forward(self, x):
        torch.manual_seed(0)
        x = x.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
        for block in self.blocks:
            x = block(x)
        with torch.inference_mode(False), torch.enable_grad(), torch.no_grad():
            y = self.named["a"](x) + self.named.b(x)
        torch.set_grad_enabled(False)
        z = torch.empty(3, 2)
        z.zero_()
        z[1].copy_ if False else z.copy_(torch.as_tensor([[1.0, 2.0]]))
        z[1:] = torch.FloatTensor([3, 4]).to(y.dtype) * y[0]
        plain = Plain()
        for n in range(Plain.count):
            plain.add(n).add(1)
        setattr(plain, "extra", 4)
        print("not shown")
        del plain.extra
        given = lists() + dicts() + strings() + numbers() + self.counts() + [plain.total]
        return self.last(y) * self.scale[:2], z, torch.tensor([float(g) for g in given])


def get_inputs():
    return [torch.randn(2, 3)]


def get_init_inputs():
    return [3]
