import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape):
        super(Model, self).__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding,
                                                 output_padding=output_padding)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.batch_norm = nn.BatchNorm3d(out_channels)
        self.avg_pool = nn.AvgPool3d(kernel_size=2)
        self.max_pool = nn.MaxPool3d(kernel_size=2)
        self.conv = nn.Conv3d(out_channels, 3, 2)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.softmax = nn.Softmax(dim=1)
        self.sum_dim = 1

    def forward(self, x):
        x = self.conv_transpose(x)
        original_x = x.clone().detach()
        x = x + self.bias
        x = x + original_x
        x = x * original_x
        x = x + original_x
        x = self.batch_norm(x)
        y = self.softmax(self.avg_pool(x))
        y = y - y.mean(dim=(2, 3, 4), keepdim=True)
        z = self.conv(self.max_pool(x))
        z = z / 2.0
        z = self.global_avg_pool(z) + self.bias[:3]
        z = torch.sum(torch.nn.functional.softmax(z, dim=1), dim=self.sum_dim)
        return torch.sigmoid(y) * y, z


def get_inputs():
    return [torch.randn(1, 2, 3, 3, 3)]


def get_init_inputs():
    return [2, 4, 3, 2, 1, 1, (4, 1, 1, 1)]
