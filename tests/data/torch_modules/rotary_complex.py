import torch
import torch.nn as nn
import torch.nn.functional as F


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)] / dim))
    return torch.polar(torch.ones(end, dim // 2), torch.outer(torch.arange(end), freqs))


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    assert freqs_cis.shape == (xq_.shape[1], xq_.shape[-1])
    shape = [d if i == 1 or i == xq_.ndim - 1 else 1 for i, d in enumerate(xq_.shape)]
    freqs_cis = freqs_cis.view(*shape)
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis.conj()).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class Model(nn.Module):
    def __init__(self, dim, n_heads, max_seq):
        super().__init__()
        self.n_heads = n_heads
        self.wqkv = nn.Linear(dim, 3 * dim, bias=False)
        self.register_buffer("freqs_cis", precompute_freqs_cis(dim // n_heads, max_seq), persistent=False)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.wqkv(x).view(b, s, 3, self.n_heads, -1).unbind(2)
        q, k = apply_rotary_emb(q, k, freqs_cis=self.freqs_cis[:s])
        c = torch.complex(x[0], x[1])[..., None, 1:]
        other = (2 * c + c * c - 1).squeeze(1)
        return q, k, other.real, other.imag, other.abs(), other.angle(), (-other).transpose(0, 1).real


def get_inputs():
    return [torch.randn(2, 3, 8)]


def get_init_inputs():
    return [8, 2, 5]
