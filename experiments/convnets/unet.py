# A U-Net (Ronneberger et al., arXiv 1505.04597) of three levels, as DCGANs and segmentation use transposed convolutions.
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 1
size = 128


class Double(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down1 = Double(3, channels)
        self.down2 = Double(channels, 2 * channels)
        self.bottom = Double(2 * channels, 4 * channels)
        self.up2 = nn.ConvTranspose2d(4 * channels, 2 * channels, 2, stride=2)
        self.join2 = Double(4 * channels, 2 * channels)
        self.up1 = nn.ConvTranspose2d(2 * channels, channels, 2, stride=2)
        self.join1 = Double(2 * channels, channels)
        self.head = nn.Conv2d(channels, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        b = self.join2(torch.cat([b, self.up2(c)], dim=1))
        a = self.join1(torch.cat([a, self.up1(b)], dim=1))
        return self.head(a)


def get_inputs():
    return [torch.randn(batch_size, 3, size, size)]


def get_init_inputs():
    return [32]
