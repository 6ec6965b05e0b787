import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralConv2d(nn.Module):
    """A layer of a Fourier neural operator: complex weights multiply the lowest frequencies."""

    def __init__(self, in_channels, out_channels, modes1, modes2):
        super().__init__()
        self.out_channels, self.modes1, self.modes2 = out_channels, modes1, modes2
        self.scale = 1 / (in_channels * out_channels)
        shape = (in_channels, out_channels, modes1, modes2)
        self.weights1 = nn.Parameter(self.scale * torch.rand(*shape, dtype=torch.cfloat))
        self.weights2 = nn.Parameter(self.scale * torch.randn(shape, dtype=torch.complex64))

    def compl_mul2d(self, input, weights):
        return torch.einsum("bixy,ioxy->boxy", input, weights)

    def forward(self, x):
        x_ft = torch.fft.rfft2(x)
        out_ft = torch.zeros(
            x.shape[0], self.out_channels, x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat, device=x.device
        )
        low = x_ft[:, :, : self.modes1, : self.modes2]
        out_ft[:, :, : self.modes1, : self.modes2] = self.compl_mul2d(low, self.weights1)
        high = x_ft[:, :, -self.modes1 :, : self.modes2]
        out_ft[:, :, -self.modes1 :, : self.modes2] = self.compl_mul2d(high, self.weights2)
        return torch.fft.irfft2(out_ft, s=(x.size(-2), x.size(-1)))


class S4DKernel(nn.Module):
    """The kernel of a diagonal state space model, and the long convolution with it."""

    def __init__(self, channels, state):
        super().__init__()
        self.C = nn.Parameter(torch.view_as_real(torch.randn(channels, state, dtype=torch.cfloat)))
        self.log_dt = nn.Parameter(torch.rand(channels))
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(channels, state)))
        self.register_buffer("A_imag", math.pi * torch.arange(state).repeat(channels, 1))

    def forward(self, u):
        length = u.size(-1)
        dt = torch.exp(self.log_dt)
        C = torch.view_as_complex(self.C)
        A = -torch.exp(self.log_A_real) + 1j * self.A_imag
        dtA = A * dt.unsqueeze(-1)
        K = dtA.unsqueeze(-1) * torch.arange(length, device=A.device)
        C = C * (torch.exp(dtA) - 1.0) / A
        k = 2 * torch.einsum("hn, hnl -> hl", C, torch.exp(K)).real
        k_f = torch.fft.rfft(k, n=2 * length)
        u_f = torch.fft.rfft(u, n=2 * length)
        return torch.fft.irfft(u_f * k_f, n=2 * length)[..., :length]


class Model(nn.Module):
    def __init__(self, channels, mels):
        super().__init__()
        self.spectral = SpectralConv2d(channels, channels, 2, 3)
        self.kernel = S4DKernel(channels, 2)
        self.register_buffer("window", torch.hann_window(8), persistent=False)
        self.mel = nn.Linear(5, mels)
        self.turn = nn.Parameter(torch.polar(torch.ones(6), torch.rand(6)))

    def forward(self, x):
        y = self.spectral(x)
        mixed = torch.fft.fft(torch.fft.fft(y, dim=-1), dim=-2).real
        u = self.kernel(x.flatten(2))
        spectrum = torch.stft(u[0], n_fft=8, hop_length=4, window=self.window, return_complex=True)
        mel = self.mel(spectrum.abs().transpose(1, 2) ** 2)
        turned = x[..., :6].to(torch.complex64) @ torch.diag(self.turn)
        return y, mixed, u, torch.log(torch.clamp(mel, min=1e-5)), turned.imag, (turned * turned.conj()).real.sum(-1)


def get_inputs():
    return [torch.randn(2, 3, 6, 8)]


def get_init_inputs():
    return [3, 4]
