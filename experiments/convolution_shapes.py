#!/usr/bin/env python3
"""Writes the convolutions of ResNet-50, MobileNet-v2 and ConvNeXt-T as modules, one file each.

    python3 experiments/convolution_shapes.py FOLDER [--batch 8]
    python3 experiments/module_times.py FOLDER --output convolutions.jsonl --threads 2

Names are NETWORK_CHANNELSxSIDE_to_OUT_kKERNEL_sSTRIDE, with _gGROUPS for depthwise convolutions.
Each shape occurs once; the networks have 23, 25 and 8 shapes.
The networks are those of torchvision. Needs Python only.
"""
import argparse
import pathlib

# (channels, out, kernel, stride, side of the input); depthwise convolutions have as many groups as channels.
RESNET50 = [
    (3, 64, 7, 2, 224), (64, 64, 1, 1, 56), (64, 64, 3, 1, 56), (64, 256, 1, 1, 56), (256, 64, 1, 1, 56), (256, 128, 1, 1, 56),
    (128, 128, 3, 2, 56), (128, 512, 1, 1, 28), (256, 512, 1, 2, 56), (512, 128, 1, 1, 28), (128, 128, 3, 1, 28),
    (512, 256, 1, 1, 28), (256, 256, 3, 2, 28), (256, 1024, 1, 1, 14), (512, 1024, 1, 2, 28), (1024, 256, 1, 1, 14),
    (256, 256, 3, 1, 14), (1024, 512, 1, 1, 14), (512, 512, 3, 2, 14), (512, 2048, 1, 1, 7), (1024, 2048, 1, 2, 14),
    (2048, 512, 1, 1, 7), (512, 512, 3, 1, 7)]
MOBILENET_V2 = [
    (3, 32, 3, 2, 224), (32, 16, 1, 1, 112), (16, 96, 1, 1, 112), (96, 24, 1, 1, 56), (24, 144, 1, 1, 56), (144, 32, 1, 1, 28),
    (32, 192, 1, 1, 28), (192, 64, 1, 1, 14), (64, 384, 1, 1, 14), (384, 96, 1, 1, 14), (96, 576, 1, 1, 14), (576, 160, 1, 1, 7),
    (160, 960, 1, 1, 7), (960, 320, 1, 1, 7), (320, 1280, 1, 1, 7)]
MOBILENET_V2_DEPTHWISE = [
    (32, 3, 1, 112), (96, 3, 2, 112), (144, 3, 1, 56), (144, 3, 2, 56), (192, 3, 1, 28), (192, 3, 2, 28), (384, 3, 1, 14),
    (576, 3, 1, 14), (576, 3, 2, 14), (960, 3, 1, 7)]
CONVNEXT_T = [(3, 96, 4, 4, 224), (96, 192, 2, 2, 56), (192, 384, 2, 2, 28), (384, 768, 2, 2, 14)]
CONVNEXT_T_DEPTHWISE = [(96, 7, 1, 56), (192, 7, 1, 28), (384, 7, 1, 14), (768, 7, 1, 7)]


def shapes():
    for network, full, depthwise in (("resnet", RESNET50, []), ("mobilenet", MOBILENET_V2, MOBILENET_V2_DEPTHWISE),
                                     ("convnext", CONVNEXT_T, CONVNEXT_T_DEPTHWISE)):
        for channels, out, kernel, stride, side in full:
            yield network, channels, out, kernel, stride, side, 1
        for channels, kernel, stride, side in depthwise:
            yield network, channels, channels, kernel, stride, side, channels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=1, help="images [1]")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for network, channels, out, kernel, stride, side, groups in shapes():
        name = f"{network}_{channels}x{side}_to_{out}_k{kernel}_s{stride}" + (f"_g{groups}" if groups > 1 else "")
        padding = 0 if kernel == stride else kernel // 2
        (options.folder / f"{name}.py").write_text(f"""import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d({channels}, {out}, {kernel}, stride={stride}, padding={padding}, groups={groups})

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand({options.batch}, {channels}, {side}, {side})]


def get_init_inputs():
    return []
""")


if __name__ == "__main__":
    main()
