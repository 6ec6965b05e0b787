import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Convolutions with what level 2 puts after them."""
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape, scaling_factor, negative_slope=0.01,
                 num_groups=2, pool_kernel_size=2):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape) * 0.02)
        self.scaling_factor = scaling_factor
        self.multiplier = nn.Parameter(torch.randn(bias_shape))
        self.leaky_relu = nn.LeakyReLU(negative_slope=negative_slope)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)
        self.pool = nn.MaxPool2d(pool_kernel_size)
        self.conv_transpose = nn.ConvTranspose2d(out_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        self.instance_norm = nn.InstanceNorm2d(out_channels)
        self.layer_norm = nn.LayerNorm((out_channels, 8, 8))

    def forward(self, x):
        x = self.conv(x)
        x = x + self.bias
        x = self.leaky_relu(x * self.scaling_factor) * self.multiplier
        x = torch.nn.functional.mish(x)
        x = torch.clamp(self.group_norm(x), min=-1.0, max=1.0)
        x = self.pool(torch.nn.functional.hardswish(x))
        x = self.conv_transpose(x)
        x = x - torch.mean(x, dim=(2, 3), keepdim=True)
        x = self.instance_norm(x)
        x = self.layer_norm(x)
        y = torch.min(x, dim=1, keepdim=True)[0]
        y = torch.tanh(torch.tanh(y))
        z = torch.logsumexp(x, dim=1, keepdim=True) + torch.max(x, dim=1, keepdim=True).values
        return y * torch.sigmoid(z) + F.softplus(z), F.gelu(x).sum(dim=[2, 3])


def get_inputs():
    return [torch.randn(2, 3, 10, 10)]


def get_init_inputs():
    return [3, 4, 3, (4, 1, 1), 2.0]
