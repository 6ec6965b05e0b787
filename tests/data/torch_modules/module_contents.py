"""The order of a module's children and parameters: that of their assignment, in which its own parameters come first."""
import torch
import torch.nn as nn


class Config:
    def __init__(self):
        self.width = 4


class Backbone(nn.Module):
    def __init__(self, config):
        nn.Module.__init__(self)
        self.config = config
        self.shift = None
        self.stem = nn.Linear(config.width, config.width)
        self.act = nn.Tanh()
        self.norm = nn.BatchNorm1d(config.width)
        self.body = nn.Linear(config.width, 3)
        self.shift = nn.Parameter(torch.randn(3))

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x + self.shift


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Backbone(Config())
        self.features = nn.Sequential(*list(self.net.children())[:-1])
        self.head = nn.Linear(4, 2)
        self.alpha = nn.Parameter(torch.randn(4))

    def forward(self, x):
        names = [name for name, _ in self.named_parameters()]
        own = ["shift", "stem.weight", "stem.bias", "norm.weight", "norm.bias", "body.weight", "body.bias"]
        assert names == ["alpha"] + ["net." + name for name in own] + ["head.weight", "head.bias"], names
        assert [name for name, _ in self.net.named_children()] == ["stem", "act", "norm", "body"]
        parameters = list(self.parameters())
        linear = [m for m in self.modules() if isinstance(m, nn.Linear)]
        return self.net(x), self.head(self.features(x)) * linear[0].bias[:2], parameters[0] + parameters[3]


def get_inputs():
    return [torch.randn(3, 4)]


def get_init_inputs():
    return []
