"""Python's lists, sets, dicts and strings: what changes them, and the numbers that they give."""
from collections import defaultdict

import torch
import torch.nn as nn


def lists():
    numbers = [5, 3, 8, 1, 9, 2]
    del numbers[0]
    numbers.sort()
    down = list(numbers)
    down.sort(reverse=True)
    by_key = [(2, "a"), (1, "b"), (1, "a")]
    by_key.sort(key=lambda pair: pair[1])
    ordered = sorted(by_key)
    numbers.remove(8)
    del down[1:3]
    del down[-1], down[0]
    rest = list(range(10))
    del rest[::3]
    return [*numbers, *down, len(by_key), by_key[0][0], *[pair[0] for pair in ordered], len(ordered[0][1]), *rest]


def sets():
    seen = set()
    for n in [3, 1, 3, 2]:
        seen.add(n)
    seen.discard(7)
    seen.remove(1)
    other = {2, 4}
    other.update([5], (6,))
    grown = {1}
    same = grown
    grown |= {2, 3}
    grown -= {1}
    last = {7}
    popped = last.pop()
    copied = seen.copy()
    copied.clear()
    return [*sorted(seen), *sorted(seen | other), *sorted(seen & other), *sorted(seen - other), *sorted(seen ^ other),
            len(same), int(2 in seen), int(5 not in seen), int({1, 2} == {2, 1}), int({1} == {2}), int({1} <= {1, 2}),
            int({1, 2} < {1, 2}), int({1, 2} >= {2}), int(set() == frozenset([])), int(isinstance(seen, set)),
            int(isinstance(seen, list)), popped, len(copied), *sorted(seen.union([9], {8})),
            *sorted({1, 2, 3}.intersection([2, 3], {3})), *sorted({1, 2, 3}.difference([2])),
            *sorted({1, 2}.symmetric_difference([2, 3])), int({1}.issubset([1, 2])), int({1, 2}.issuperset([1])),
            int({1}.isdisjoint([2])), len({n % 3 for n in range(9)})]


def dicts():
    groups = defaultdict(list)
    for n in range(5):
        groups[n % 2].append(n)
    counts = defaultdict(int, {"a": 1})
    for letter in "abca":
        counts[letter] += 1
    del counts["b"]
    nested = defaultdict(lambda: defaultdict(float))
    nested["x"]["y"] += 1.5
    found = int("z" in nested) + int(counts.get("z") is None)
    return [*groups[0], *groups[1], *counts.values(), len(counts), nested["x"]["y"], found, len(nested),
            int(isinstance(groups, dict)), *({"a": 1, "b": 2} | {"b": 3}).values(), len(repr("ab")), len(repr([1, "a"]))]


def strings():
    path = "model.layers.10.weight"
    head, dot, tail = path.partition(".")
    before, mark, last = path.rpartition(".")
    return [path.find("layers"), path.find("x"), path.rfind("."), path.index("e"), path.find("e", 6), path.count("l"),
            int("12".isdigit()), int("".isdigit()), int("a1".isalpha()), int("ab".isalpha()),
            int("some words".title() == "Some Words"), int("hELLO".capitalize() == "Hello"),
            len(path.rsplit(".", 1)[0]), len(path.split(".", 2)[2]), len(" a  b c ".split()), len("a b c".rsplit(None, 1)[0]),
            len(head), len(dot), len(tail), len(before), len(mark), len(last), len("none".partition("x")[1]),
            len("xxaxx".strip("x")), len("xxaxx".lstrip("x")), len("xxaxx".rstrip("x")), len(" a ".rstrip()),
            len(path.removeprefix("model.")), len(path.removesuffix(".weight")), len(path.removesuffix("x")),
            int("7".zfill(3) == "007"), int("-7".zfill(3) == "-07"), int(path.endswith((".bias", ".weight"))),
            int(path.startswith(("a", "b"))), int("a-b-c".replace("-", "", 1) == "ab-c"), len("".join(["", "a"]))]


def formats():
    n, x, word = 1234567, -3.14159, "ab"
    texts = [(f"{word:>4}", "  ab"), (f"{word:*^6}", "**ab**"), (f"{word:<4}|", "ab  |"), (f"{word:4}|", "ab  |"),
             (f"{n:,}", "1,234,567"), (f"{n:010d}", "0001234567"), (f"{n:>9}", "  1234567"), (f"{n:+d}", "+1234567"),
             (f"{x:8.3f}", "  -3.142"), (f"{x:08.3f}", "-003.142"), (f"{x:.2e}", "-3.14e+00"), (f"{0.5:.1%}", "50.0%"),
             (f"{255:x}", "ff"), (f"{5:04b}", "0101"), (f"{x:.3g}", "-3.14"), (f"{word!r:>6}", "  'ab'"),
             ("{:>5}|{:<3}".format(n % 10, word), "    7|ab "), ("%5s|%-4d|%03d" % (word, 7, 5), "   ab|7   |005"),
             ("%.2f %d" % (x, 3.9), "-3.14 3")]
    return [int(made == expected) for made, expected in texts]


def added(a, /, b=2, *, c=3):
    return a + b + c


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 2), nn.ReLU(), nn.Linear(3, 4), nn.Linear(4, 2)])
        del self.layers[0]
        self.heads = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
        del self.heads["a"]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        numbers = lists() + sets() + dicts() + strings() + formats() + [added(1), added(1, 1, c=1)]
        return self.heads["b"](x), torch.tensor([float(n) for n in numbers])


def get_inputs():
    return [torch.randn(2, 3)]


def get_init_inputs():
    return []
