import torch
import torch.nn as nn
from typing import List, Union

cfg = [4, 'M', 6, 6, 'M']


def make_layers(cfg: List[Union[str, int]], batch_norm=False) -> nn.Sequential:
    layers: List[nn.Module] = []
    in_channels = 3
    for v in cfg:
        if v == 'M':
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
        elif isinstance(v, int) and v > 0:
            conv2d = nn.Conv2d(in_channels, v, kernel_size=3, padding=1)
            norm = [nn.BatchNorm2d(v)] if batch_norm else []
            layers += [conv2d, *norm, nn.ReLU(inplace=True)]
            in_channels = v
        else:
            raise ValueError(f"unknown layer {v}")
    return nn.Sequential(*layers)


class Model(nn.Module):
    def __init__(self, num_classes=5, batch_norm=True):
        super().__init__()
        self.features = make_layers(cfg, batch_norm=batch_norm)
        self.avgpool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(
            nn.Linear(6 * 2 * 2, 8),
            nn.ReLU(True),
            nn.Dropout(p=0.0),
            nn.Linear(8, num_classes),
        )
        self._initialize_weights()

    def _initialize_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode='fan_out', nonlinearity='relu')
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        x = self.classifier(x)
        return x


def get_inputs():
    return [torch.randn(1, 3, 12, 12)]


def get_init_inputs():
    return []
