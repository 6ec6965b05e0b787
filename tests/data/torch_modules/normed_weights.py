import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm, weight_norm
from torch.nn.utils.parametrizations import spectral_norm as spectral, weight_norm as weight


class Model(nn.Module):
    """Weights that are computed of others before each call."""
    def __init__(self, width):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(2, width, 3, padding=1))
        self.last = weight_norm(nn.Linear(width, 3), dim=None)
        self.new = weight(nn.Linear(width, 4), name="weight", dim=1)
        self.spectral = spectral_norm(nn.ConvTranspose1d(width, 3, 2))
        self.newest = nn.Sequential(spectral(nn.Conv1d(width, 3, 2)), nn.ReLU())
        self.conv.weight.data.normal_(0, 0.01)

    def forward(self, x):
        y = torch.tanh(self.conv(x))
        rows = y.transpose(1, 2)
        return self.last(rows), self.new(rows), self.spectral(y), self.newest(y), self.conv(x[:1])


def get_inputs():
    return [torch.randn(2, 2, 5)]


def get_init_inputs():
    return [4]
