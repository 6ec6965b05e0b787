#!/usr/bin/env python3
"""Writes .pt2 files of small models with torch.export, for `deplo compile` and as fixtures of the tests.

    export_pt2.py --model llama-block --hidden 64 --heads 4 --kv-heads 2 --ffn 96 --seq 7 block.pt2
    export_pt2.py --model llama-block --qk-norm --attention eager --decompose block.pt2
    export_pt2.py --model mlp --hidden 32 --ffn 48 --seq 3 --expected mlp.json mlp.pt2

Needs PyTorch 2.5 or later (a CPU build is enough). Models:

    llama-block  RMSNorm, q/k/v projections, rotary embedding, grouped-query causal attention, residual, SwiGLU, residual
                 (--qkv-bias: Qwen2.5; --qk-norm: Qwen3)
    mlp          LayerNorm, Linear, GELU, Linear, softmax
    head         token ids -> embedding -> RMSNorm -> Linear: integer inputs
    routed-mlp   a mixture of experts: topk, rows sorted by expert and padded to blocks, gathered weights, and the rest
    multihead    nn.MultiheadAttention and nn.TransformerEncoderLayer, with their masks and other arguments
    operators    most operations that a .pt2 file may have, each on a small tensor, to test the reader
    narrow       integers of 8 and 16 bits, truth values, float64
    packed       linear layers with weights of 4 and 8 bits
    copies       operations in place on copies and on views
    views        operations in place on views in all spellings, or on what the views show
    state        buffers and inputs that the program changes
    strided      as_strided: elements by their places in memory
    rotary       complex numbers as in rotary embeddings
    assorted     other operations of Hugging Face's transformers and of quantized models
    fourier      Fourier transforms, and the operations on complex numbers that they need
    complex      complex numbers: parameters, arithmetic, matrix products, changes in place, outputs
    spectra      complex numbers as input, as output and in between
    conjugates   other functions of complex numbers: products by name, parts of conjugates, frequencies, scatters
    placed       elements written, selected, repeated and resized by indices, and quotients of integers
    written      functions that deplo writes in its expression language
    chosen       results of torch.cond, and functions that core ATen has under other names
    quantized    quantized integers, and fake quantization
    recurrent    the last states of LSTMs (in PyTorch 2.5 to 2.9 the file states other shapes), and torch.no_grad
    dynamic      sizes that dynamic_shapes leaves open: two of the input, and others computed from them
    corners      both results of max, indices below 0, tensors without elements, powers of integers, fractions in a range

--decompose writes core ATen (run_decompositions) instead of the operators that the model calls. --expected also writes
inputs and outputs as JSON. The outputs are computed in float64 from the float32 (or --dtype) weights.
"""
import argparse
import copy
import json
import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    """RMSNorm as Hugging Face's models write it, without torch.nn.RMSNorm."""

    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(size))
        self.eps = eps

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.eps))


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def repeat_kv(x, n):
    batch, heads, seq, dim = x.shape
    return x[:, :, None, :, :].expand(batch, heads, n, seq, dim).reshape(batch, heads * n, seq, dim)


class Attention(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.heads, self.kv_heads, self.dim, self.eager = o.heads, o.kv_heads, o.hidden // o.heads, o.attention == "eager"
        self.q_proj = nn.Linear(o.hidden, o.heads * self.dim, bias=o.qkv_bias)
        self.k_proj = nn.Linear(o.hidden, o.kv_heads * self.dim, bias=o.qkv_bias)
        self.v_proj = nn.Linear(o.hidden, o.kv_heads * self.dim, bias=o.qkv_bias)
        self.o_proj = nn.Linear(o.heads * self.dim, o.hidden, bias=False)
        self.q_norm = RMSNorm(self.dim) if o.qk_norm else nn.Identity()
        self.k_norm = RMSNorm(self.dim) if o.qk_norm else nn.Identity()
        frequencies = 1.0 / 10000 ** (torch.arange(0, self.dim, 2).float() / self.dim)
        self.register_buffer("inv_freq", frequencies, persistent=False)

    @torch.no_grad()
    def rotary(self, x, positions):
        """Like Hugging Face's rotary embedding: cos and sin of (batch, seq, dim), computed without autocast."""
        inv_freq = self.inv_freq[None, :, None].to(x.dtype).expand(positions.shape[0], -1, 1).to(x.device)
        with torch.autocast(device_type="cpu", enabled=False):
            angles = (inv_freq @ positions[:, None, :].to(x.dtype)).transpose(1, 2)
            angles = torch.cat((angles, angles), dim=-1)
            return angles.cos()[:, None].to(dtype=x.dtype), angles.sin()[:, None].to(dtype=x.dtype)

    def forward(self, x):
        batch, seq, _ = x.shape
        q = self.q_norm(self.q_proj(x).view(batch, seq, self.heads, self.dim)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(batch, seq, self.kv_heads, self.dim)).transpose(1, 2)
        v = self.v_proj(x).view(batch, seq, self.kv_heads, self.dim).transpose(1, 2)
        cos, sin = self.rotary(x, torch.arange(seq, device=x.device)[None, :])
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, self.heads // self.kv_heads), repeat_kv(v, self.heads // self.kv_heads)
        if self.eager:
            mask = torch.triu(torch.full((seq, seq), float("-inf"), dtype=x.dtype), diagonal=1)
            scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.dim) + mask
            y = torch.matmul(F.softmax(scores, dim=-1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).contiguous().view(batch, seq, -1))


class LlamaBlock(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.input_layernorm = RMSNorm(o.hidden)
        self.self_attn = Attention(o)
        self.post_attention_layernorm = RMSNorm(o.hidden)
        self.gate_proj = nn.Linear(o.hidden, o.ffn, bias=False)
        self.up_proj = nn.Linear(o.hidden, o.ffn, bias=False)
        self.down_proj = nn.Linear(o.ffn, o.hidden, bias=False)

    def forward(self, hidden_states):
        x = hidden_states + self.self_attn(self.input_layernorm(hidden_states))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Mlp(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.norm = nn.LayerNorm(o.hidden)
        self.up = nn.Linear(o.hidden, o.ffn)
        self.down = nn.Linear(o.ffn, o.hidden)
        self.down.weight = nn.Parameter(self.down.weight.detach().t().contiguous().t())  # column-major in the file
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        y = self.down(self.dropout(F.gelu(self.up(self.norm(x)), approximate="tanh")))
        return F.softmax(y, dim=-1), y.max()


class Head(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.embed = nn.Embedding(o.vocabulary, o.hidden)
        self.norm = RMSNorm(o.hidden)
        self.lm_head = nn.Linear(o.hidden, o.vocabulary, bias=False)
        self.lm_head.weight = self.embed.weight  # tied: two names, one storage
        self.scale = torch.tensor([0.5, 2.0])

    def forward(self, ids):
        x = self.norm(self.embed(ids))
        first, second = x.chunk(2, dim=-1)
        keep = (ids > 3)[:, :, None]
        x = torch.cat((first * self.scale[0], second * self.scale[1]), dim=-1).masked_fill(~keep, 0.25)
        return self.lm_head(x[:, -1:, :])


class Multihead(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.register_buffer("mask", torch.full((o.seq, o.seq), float("-inf")).triu(1))
        self.register_buffer("hidden", torch.rand(o.seq, o.seq) > 0.5)
        self.hidden[:, 0] = False  # no row is hidden completely, because that gives NaN
        self.register_buffer("padding", torch.arange(o.seq) >= torch.tensor([[o.seq], [o.seq - 2]]))
        self.batch_first = nn.MultiheadAttention(o.hidden, o.heads, batch_first=True)
        self.sequence_first = nn.MultiheadAttention(o.hidden, o.heads, bias=False, add_zero_attn=True)
        self.cross = nn.MultiheadAttention(o.hidden, 2, kdim=3, vdim=5, batch_first=True, add_bias_kv=True)
        layer = lambda **kwargs: nn.TransformerEncoderLayer(o.hidden, o.heads, o.ffn, batch_first=True, **kwargs)
        self.encoder, self.norm_first = layer(), layer(norm_first=True, activation="gelu")

    def forward(self, x):
        def attend(**kwargs):
            return self.batch_first(x, x, x, **kwargs)

        causal = {"attn_mask": self.mask, "is_causal": True}
        return (attend()[0], *attend(attn_mask=self.mask), *attend(key_padding_mask=self.padding, average_attn_weights=False),
                attend(need_weights=False)[0], attend(need_weights=False, **causal)[0],
                attend(need_weights=False, attn_mask=self.mask)[0], attend(need_weights=False, attn_mask=self.hidden)[0],
                attend(need_weights=False, key_padding_mask=self.padding)[0],
                attend(need_weights=False, key_padding_mask=self.padding, attn_mask=self.hidden)[0],
                self.sequence_first(x, x, x, need_weights=False)[0],
                self.cross(x, x[:, 1:, :3], x[:, 1:, 3:8], need_weights=False)[0],
                self.encoder(x), self.encoder(x, src_key_padding_mask=self.padding),
                self.norm_first(x, src_mask=self.mask, is_causal=True))


class RoutedMlp(nn.Module):
    """Blocks of rows of one expert, as vLLM's moe_align_block_size lays them out."""
    experts, top, block = 5, 2, 4

    def __init__(self, o):
        super().__init__()
        self.gate = nn.Linear(o.hidden, self.experts, bias=False)
        self.up = nn.Parameter(0.1 * torch.randn(self.experts, o.hidden, 2 * o.ffn))
        self.down = nn.Parameter(0.1 * torch.randn(self.experts, o.ffn, o.hidden))

    def forward(self, x):
        x = x[0]
        rows = x.shape[0] * self.top
        blocks = (rows + self.experts * (self.block - 1)) // self.block
        weights, ids = torch.topk(F.softmax(self.gate(x), dim=-1), self.top)
        weights, ids = weights / weights.sum(-1, keepdim=True), ids.flatten()
        chosen = F.one_hot(ids, self.experts)
        rank = (torch.cumsum(chosen, 0) * chosen).sum(-1) - 1
        used = (chosen.sum(0) + self.block - 1) // self.block
        ends = torch.cumsum(used, 0)
        place = (ends[ids] - used[ids]) * self.block + rank
        source = torch.zeros(blocks * self.block, dtype=torch.long).scatter(0, place, torch.arange(rows) // self.top)
        expert = torch.bucketize(torch.arange(blocks), ends, right=True).clamp(max=self.experts - 1)
        g, u = torch.bmm(x[source].view(blocks, self.block, -1), self.up[expert]).chunk(2, -1)
        y = torch.bmm(F.silu(g) * u, self.down[expert]).flatten(0, 1)
        routed = (y[place].view(-1, self.top, x.shape[1]) * weights[..., None]).sum(1)
        # The same operations in other spellings.
        order = torch.argsort(ids, stable=True)
        added = torch.zeros_like(x).index_add(0, order // self.top, y[place[order]] * weights.flatten()[order, None])
        in_place = torch.zeros_like(x)
        in_place.index_add_(0, torch.arange(rows) // self.top, y[place])
        found = torch.searchsorted(ends, torch.sort(ids, descending=True)[0]) + torch.remainder(order, 3)
        spread = x.scatter(1, ids.view(-1, self.top), 1.0).scatter_add(0, (order[:2, None] // self.top).expand(2, x.shape[1]), x[:2])
        return routed, added, in_place, found, spread


class Operators(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.register_buffer("rows", torch.tensor([2, 0, 1, 2]))
        self.register_buffer("table", torch.randn(3, 2, 4))
        self.register_buffer("wide", torch.randn(1, 4).expand(3, 4))  # a stride of 0
        self.linear, self.norm, self.rms = nn.Linear(4, 6), nn.LayerNorm((2, 4)), nn.RMSNorm(4, eps=1e-5)

    def pointwise(self, x):
        y, positive = self.table + x, x * x + 0.5
        return [torch.rsub(x, y, alpha=1), x.add(y, alpha=0.5), x.sub(y, alpha=2), x.clamp(-0.5, 0.5), x.clamp(min=0),
                torch.clamp_max(x, 0.25), positive.log() + positive.sqrt() - positive.reciprocal(), torch.square(x), positive.pow(y),
                2.0 ** x, torch.where(x > y, x, 1.5), torch.where((x > 0) & ~(y > 0) | (x < -1), x, y), x.erf() + x.tanh() + x.sin(),
                torch.maximum(x, y) - torch.minimum(x, y), torch.max(x, y), F.gelu(x) + F.relu(x) + F.silu(x), x / 3 - 2 / positive,
                torch.logical_or(x >= 0, y <= 0).to(x.dtype), (x != y).to(torch.int32), x.type_as(y).abs(), x.neg().exp()]

    def reductions(self, x):
        return [x.sum(), x.sum(1), x.mean((0, 2), keepdim=True), x.amax(-1), x.amin((0, 1)), x.max(), x.min(), x.max(dim=1).values,
                x.prod(), x.prod(2), x.var(-1), x.var((0, 1), correction=0), x.std(-1, keepdim=True), (x > 0).any(dim=1), (x > 0).all(),
                (x > 0).sum(), F.softmax(x, 1), F.log_softmax(x, -1), F.softmax(x, -1, dtype=x.dtype), self.norm(x), self.rms(x),
                F.layer_norm(x, (4,)), F.scaled_dot_product_attention(x, x, x, x[:, :, :2]),
                F.scaled_dot_product_attention(x, x, x, torch.ones(2, 2).tril() > 0)]

    def products(self, x):
        a, b = x[0], x[1].t()
        return [self.linear(x), a @ b, torch.mm(a, b), torch.addmm(x[2, :, :2], a, b), torch.addmm(x[2, :, :2], a, b, beta=0.5, alpha=2),
                torch.bmm(x, x.transpose(1, 2)), torch.baddbmm(x[:, :, :2], x, x.mT), a @ x[2, 0], torch.mv(a, x[2, 0])]

    def shapes(self, x):
        first, second, third = x.split([1, 2, 1], dim=-1)
        p, q, r = x.unbind(0)
        return [second, third - first, p + q * r, x.permute(2, 0, 1), x.flatten(1), x.unflatten(2, (2, 2)), x.reshape(-1), x[:, :, None].expand(3, 2, 5, 4),
                x[:, :1].squeeze(1), x[:, :1, :1].squeeze(), x.repeat(2, 1, 3), x.repeat_interleave(2, dim=1), self.table[self.rows], torch.stack((x, x + 1), 1),
                torch.index_select(x, 0, self.rows), torch.gather(x, 0, self.rows.view(1, 2, 2)), torch.narrow(x, 2, 1, 2), x[..., ::2], x[1:, -1],
                torch.cat((x, self.wide[:, None]), 1), x.triu(), x.tril(-1), torch.chunk(x, 3, -1)[1], x.expand_as(x) + x.contiguous()]

    def creation(self, x):
        return [x[0] + torch.arange(4), x + torch.arange(1.0, 9.0, 2.0), x[:, 0, 0] * torch.arange(3, 0, -1), torch.zeros(4) + x, torch.ones(2, 4) * x,
                torch.full((4,), 0.5) - x, torch.zeros_like(x) + 1, torch.full_like(x, 2) * x, torch.ones_like(x) + x, x.new_zeros(4) + x,
                x.new_full((4,), 3.0) * x, x + torch.tensor([1.0, 2.0, 3.0, 4.0])]

    def forward(self, x):
        return tuple(self.pointwise(x) + self.reductions(x) + self.products(x) + self.shapes(x) + self.creation(x))


class Corners(nn.Module):
    """Rare operations: both results of max, indices below 0, tensors without elements, powers of integers."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("ids", torch.tensor([-1, 0, -3, 2]))

    def forward(self, x):
        below = (x[:, 0, 0] > 0).to(torch.int64) - 2
        most, least = x.max(dim=1), x.min(dim=2, keepdim=True)
        nothing = x[:, :, 4:]
        return (most.values, most.indices, least.values, least.indices, x.argmax(), x.argmin(1), x[self.ids], x[below], x[:, below],
                x.new_zeros(3, 4).index_put((self.ids[:3],), x[:, 0], accumulate=True), nothing, nothing.sum(), nothing.sum(-1),
                nothing.prod(0), (nothing > 0).any(), (nothing > 0).all(-1), torch.cat((x, nothing), -1), nothing @ nothing.mT,
                2 ** self.ids.abs(), self.ids ** 3, self.ids ** self.ids.abs(), x[1:1].reshape(-1, 8), x ** self.ids, torch._weight_norm(x, x[:, :1, :1]),
                x.reshape_as(x.flatten()), x[0].view_as(x[0].reshape(-1)), torch.broadcast_to(x[:, :1], x.shape),
                torch.arange(0.5, 4) + torch.arange(3.0, 0, -0.75))


class Narrow(nn.Module):
    """Integers of 8 and 16 bits, truth values and float64, with PyTorch's arithmetic."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("bytes", torch.tensor([0, 1, 100, 200, 255, 17, 128, 64], dtype=torch.uint8))
        self.register_buffer("small", torch.tensor([-128, 127, -1, 5], dtype=torch.int8))
        self.register_buffer("short", torch.tensor([-32768, 32767, 300, -7], dtype=torch.int16))
        self.register_buffer("wide", torch.tensor([0.5, -2.25, 3.0, 8.0], dtype=torch.float64))
        self.register_buffer("mask", torch.tensor([True, False, True, True]))

    def forward(self, x):
        low, high = self.bytes[:4] & 15, self.bytes[4:] >> 4
        return (x * (low.to(x.dtype) - 8), x * high.to(x.dtype), self.bytes + 100, self.bytes * 3, ~self.bytes, self.bytes ^ 90,
                self.bytes << 1, self.bytes.to(torch.int8), self.bytes.sum(), self.bytes.max(), self.small + self.small, -self.small,
                self.small * 2, self.small // 2, self.small.abs(), self.small.to(torch.uint8), self.short * 2, self.short - 1,
                self.short.to(torch.int8), x * self.small.to(x.dtype), x + self.wide.to(x.dtype), self.wide * 2, self.mask & (x[0, 0] > 0),
                self.mask ^ True, x.masked_fill(~self.mask, 0), self.mask.sum(), self.mask.to(torch.uint8) * 200 + 100)


class Packed(nn.Module):
    """Linear layers with packed weights, and a scale for each group of 128 (16 in small layers). The formats: two weights of
    4 bits in a byte along K; eight of 4 bits in an int32, along K with zero points (GPTQ) and along N (AWQ); and bytes."""
    def __init__(self, o):
        super().__init__()
        k, n, groups = o.hidden, o.ffn, o.hidden // (128 if o.hidden >= 512 else 16)
        words = lambda *shape: torch.randint(-2 ** 31, 2 ** 31, shape).to(torch.int32)
        self.register_buffer("pairs", torch.randint(0, 256, (n, k // 2), dtype=torch.uint8))
        self.register_buffer("along_k", words(k // 8, n))
        self.register_buffer("zeros", words(groups, n // 8))
        self.register_buffer("along_n", words(k, n // 8))
        self.register_buffer("bytes", torch.randint(-128, 128, (n, k), dtype=torch.int8))
        self.register_buffer("scales", torch.randn(groups, n) / 16)
        self.register_buffer("shifts", torch.arange(0, 32, 4, dtype=torch.int32))

    def scaled(self, w):
        groups, n = self.scales.shape
        return (w.reshape(groups, -1, n) * self.scales.unsqueeze(1)).reshape(-1, n)

    def forward(self, x):
        groups, n = self.scales.shape
        pairs = torch.stack([self.pairs & 15, self.pairs >> 4], dim=-1).reshape(n, -1).T
        along_k = (self.along_k.unsqueeze(1) >> self.shifts.view(1, 8, 1)) & 15
        zeros = ((self.zeros.unsqueeze(2) >> self.shifts) & 15).reshape(groups, 1, n)
        along_n = ((self.along_n.unsqueeze(2) >> self.shifts) & 15).reshape(-1, n)
        return (x @ self.scaled(pairs.to(x.dtype) - 8), x @ self.scaled(along_k.reshape(groups, -1, n) - zeros),
                x @ self.scaled(along_n - 8), x @ self.scaled(self.bytes.T.to(x.dtype)))


class Copies(nn.Module):
    """Operations in place on results of reshape, flatten, contiguous and to: on copies, and on views."""
    def __init__(self, o):
        super().__init__()

    def forward(self, x):
        a, b, c, d, e, f, g, h, i, j, k = (x * n for n in range(1, 12))
        return (a.transpose(0, 1).reshape(-1).add_(1), a, b.transpose(1, 2).contiguous().mul_(2), b, c.contiguous().mul_(2), c,
                d.reshape(-1).add_(1), d, e[:, :, :2].flatten(1).add_(1), e, f.flatten(0, 1).mul_(3), f,
                g[:, :, ::2].contiguous().add_(1), g, h[:, :, 1::2].mul_(3), h, i.swapaxes(0, 1)[0].add_(1), i,
                j.diagonal(dim1=0, dim2=2).mul_(0), j, k[:1].expand(1, 2, 4).movedim(2, 0).add_(2), k)


class Views(nn.Module):
    """Operations in place on views in all spellings, or on the tensor that they show, and operators in place."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("ids", torch.tensor([5, 0, -3, 12]))

    def forward(self, x):
        turned, deep, line = x.transpose(0, 2), x.unsqueeze(0), x.reshape(-1)
        views = [lambda y: y.ravel(), lambda y: y.transpose(0, 2).ravel(), lambda y: y.moveaxis(0, 1), lambda y: y.swapdims(0, 2),
                 lambda y: y.mT, lambda y: y.adjoint(), lambda y: y[0].H, lambda y: y.T, lambda y: torch.atleast_3d(y[0]),
                 lambda y: y.unflatten(2, (2, 2)), lambda y: y.view_as(line), lambda y: y[:, None].squeeze(1), lambda y: y.chunk(2)[1],
                 lambda y: y.tensor_split(3, 2)[1], lambda y: y.tensor_split((1, 3), -1)[1], lambda y: y.hsplit(2)[1],
                 lambda y: y.vsplit(3)[1], lambda y: y.dsplit(2)[1], lambda y: y.narrow(1, 1, 1), lambda y: y.unfold(2, 2, 2),
                 lambda y: torch.positive(y), lambda y: F.dropout(y, training=False), lambda y: y.type_as(line),
                 lambda y: torch.einsum("ijk->kij", y), lambda y: y.unsafe_chunk(2, 2)[1],
                 lambda y: y.to(y.dtype), lambda y: y.to(y.dtype, copy=True), lambda y: y[None].to(memory_format=torch.channels_last),
                 lambda y: y[None].contiguous(memory_format=torch.channels_last), lambda y: y.contiguous()]
        made = []
        for i, view in enumerate(views):
            y = x * (i + 1)
            view(y).add_(1)
            made.append(y)
        for i, view in enumerate([*views[::4], lambda y: torch.meshgrid(y[0, 0], y[1, 0], indexing="xy")[1],
                                  lambda y: torch.broadcast_tensors(deep, y)[1], lambda y: y[:, :1].expand_as(x)]):
            y = x * (i + 1)
            shown = view(y)
            y.mul_(3)
            made.append(shown * 1)
        a, b, c, d = (x[0] * n for n in (1, 2, 3, 4))
        a.unsqueeze_(0).add_(1)
        b.t_().mul_(2)
        c.transpose_(0, 1).squeeze_()
        d.gt_(0.5)
        mask, ids, more = x > 0, self.ids * 1, self.ids * 1
        mask &= x < 1
        mask[0] |= x[0] < -1
        mask[1] ^= True
        ids <<= 2
        more >>= 1
        more ^= 3
        with torch.no_grad():
            e = x * 1
            part = e[0]
            e.add_(1)
        part.mul_(2)
        return (*made, a, b, c, d, mask, ids, more, e)


class State(nn.Module):
    """Buffers and an input that the program changes, and the running statistics of norms."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("cache", torch.randn(5, 4))
        self.register_buffer("unchanged", torch.randn(4))
        self.register_buffer("mean", torch.randn(2))
        self.register_buffer("var", 1 + torch.rand(2))
        self.register_buffer("image_mean", torch.randn(2))
        self.register_buffer("image_var", 1 + torch.rand(2))
        self.register_buffer("steps", torch.tensor(3))
        self.register_buffer("seen", torch.zeros(2, 4))

    def forward(self, x):
        self.cache[1:3] = x[0]
        self.steps += 1
        with torch.no_grad():
            self.seen.copy_((x > 0).sum(0))
        y = F.batch_norm(x, self.mean, self.var, training=True, momentum=0.25) + self.mean[:, None]
        z = F.instance_norm(x, self.image_mean, self.image_var, momentum=0.5)
        x.mul_(2)
        return self.cache @ x[1].T + self.unchanged[0], None, y, z * self.image_var[:, None], x + self.steps


class Strided(nn.Module):
    """as_strided of tensors with two memory layouts: windows, steps and repeated elements."""
    def __init__(self, o):
        super().__init__()

    def forward(self, x):
        turned = x.transpose(1, 2) * 2
        return (x.as_strided((5, 4), (2, 1)), x.exp().as_strided((2, 2, 3), (1, 0, 3), 2), turned.as_strided((3, 2), (4, 1), 1),
                turned.contiguous().as_strided((3, 2), (4, 1), 1))


class Rotary(nn.Module):
    """Rotary embedding by complex numbers: from a buffer, and from angles that the program computes."""
    def __init__(self, o):
        super().__init__()
        angles = torch.outer(torch.arange(2.0), torch.tensor([1.0, 0.25]))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        pairs, angles = torch.view_as_complex(x.reshape(3, 2, 2, 2)), x[..., :2]
        computed = torch.polar(x[..., 2:].abs(), angles)
        made = (pairs * self.turns, pairs * self.turns.unsqueeze(0)[:, -1:], computed * pairs, pairs * 2.5, angles * pairs,
                pairs.conj() * computed[..., :1], torch.complex(angles, angles + 1)[1:], self.turns.expand(3, 2, 2) * pairs,
                pairs.reshape(3, 4)[:, ::2])
        return tuple(torch.view_as_real(z) for z in made) + (torch.view_as_real(made[0]).flatten(2).type_as(x),)


class Assorted(nn.Module):
    """Checks of numbers that are known at run time, scattered rows, bags, quotients of integers, fake quantization and small matrices."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("bytes", torch.randint(-128, 128, (24, 16), dtype=torch.int8))
        self.register_buffer("ids", torch.tensor([3, 0, 1, 1, 2, 3]))
        self.register_buffer("mask", torch.tensor([True, False, False, True, True, False]))
        self.register_buffer("scales", torch.tensor([0.1, 0.25, 0.0625, 0.5]))
        self.register_buffer("zeros", torch.tensor([0, 1, -2, 3], dtype=torch.int32))

    def forward(self, x):
        rows, counts = x.reshape(6, 4), x.new_zeros(4).to(torch.int64)
        torch._check(counts.max().item() <= 4)
        pooled = F.avg_pool2d(x, 64, ceil_mode=True), F.max_pool1d(x, 9, ceil_mode=True), F.avg_pool1d(x, 3, ceil_mode=True)
        offsets, weights = torch.tensor([0, 2, 2, 6]), x[0, 0, :1].expand(6)
        bags = [F.embedding_bag(self.ids, rows, offsets[:3], mode="sum", per_sample_weights=weights),
                F.embedding_bag(self.ids, rows, offsets, mode="mean", padding_idx=1, include_last_offset=True),
                F.embedding_bag(self.ids, rows, offsets[:3], mode="max")]
        sent = [x.new_full((5, 4), 7.0).scatter_reduce(0, self.ids[:, None].expand(6, 4), rows, by, include_self=False)
                for by in ("sum", "mean", "prod", "amax", "amin")]
        whole = self.zeros.to(torch.int64) * 7 - 3
        quantized = [torch.fake_quantize_per_tensor_affine(x, 0.125, 3, -20, 11),
                     torch.fake_quantize_per_channel_affine(x, self.scales.float(), self.zeros, 2, -8, 7)]
        names = [torch.special.expit(x), torch.special.expm1(x), torch.special.logsumexp(x, 1), torch.arctan(x),
                 torch.moveaxis(x, 0, 2), torch.unsafe_chunk(x, 2, 2)[1]]
        square = x[:, :, :2]
        matrices = [torch.linalg.det(square), torch.det(square), torch.linalg.inv(square), torch.inverse(square),
                    torch.linalg.inv_ex(square).inverse, torch.linalg.solve(square, x), torch.linalg.solve(square, x[:, :, 3])]
        return (*pooled, *bags, *sent, *quantized, *names, *matrices, rows.masked_scatter(self.mask[:, None], rows * 2),
                torch.eye(3, 4, dtype=x.dtype) + x[:, :1].squeeze(1), torch.linspace(-1, 2, 4) + x, torch._is_all_true(x > -9),
                torch.fmod(whole, 4), torch.div(whole, 4, rounding_mode="trunc"), torch.div(whole, -4, rounding_mode="trunc"),
                torch._int_mm(self.bytes, self.bytes.T), torch.erfinv(x / 8))


class Placed(nn.Module):
    """Scattered sources of other sizes than the tensor, constant masks, quotients of integers, repeated and resized tensors."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("ids", torch.tensor([[3, 0], [1, 1]]))
        self.register_buffer("ends", torch.tensor([0, -1]))
        self.register_buffer("mask", torch.tensor([True, False, True]))
        self.register_buffer("plane", torch.tensor([[True, False], [False, True], [True, True]]))
        self.register_buffer("columns", torch.tensor([True, True, False, True]))
        self.register_buffer("numbers", torch.tensor([7, -7, 0, 2**40 + 1, -9, 8]))
        self.register_buffer("divisors", torch.tensor([2, 2, -5, -3, -4, 8]))
        self.register_buffer("repeats", torch.tensor([2, 0, 1]))
        self.lstm = nn.LSTM(4, 3, proj_size=2, bidirectional=True)

    def scattered(self, rows):
        small = [rows.scatter(1, self.ids, rows[4:, :2]), rows.scatter(1, self.ids, 7.0), rows.scatter_add(0, self.ids, rows)]
        reduced = [rows.scatter(1, self.ids, rows, reduce="add"), rows.scatter(1, self.ids, rows, reduce="multiply"),
                   rows.scatter_reduce(1, self.ids, rows, "amax"), self.numbers.scatter_reduce(0, self.ids[0], self.divisors, "amin")]
        return [*small, *reduced, (rows > 0).scatter(1, self.ids, True), rows.index_fill(0, self.ends, 3.0)]

    def masked(self, x):
        """Elements that computed masks select, and that return to their places."""
        y, z, far, flags = x * 2, x + 1, torch.full_like(x, 0.5), x > 1
        y[x < 0] = torch.sqrt(1 - x[x < 0]) * 3
        near = z < far
        far[near] = z[near]
        some = z[~near]
        some.mul_(2)
        z[~near] = some + torch.clamp(y[~near], max=1.0)
        return [y, z, far, x.index_put((flags,), torch.masked_select(y, flags).neg())]

    def quotients(self):
        a, b, c = self.numbers, self.divisors, self.divisors.to(torch.int32)
        return [a // b, a % b, torch.div(a, b, rounding_mode="trunc"), torch.fmod(a, b), a % -4, a // -4, 9 // b, -9 % b,
                torch.div(a, -4, rounding_mode="floor"), torch.div(a, 4, rounding_mode="trunc"), a[:3].to(torch.int32) // c[:3],
                a[:3].to(torch.int32) % c[:3], self.ids % b[:2], c // self.numbers[:1]]

    def forward(self, x):
        rows, image, grid = x.reshape(6, 4), x.reshape(1, 2, 3, 4), 1.5 * x.reshape(1, 4, 3, 2)
        chosen = [x[self.mask] * 2, x[:, :, self.columns], x[self.plane].sum(0), torch.masked_select(x[0], self.columns),
                  x[self.plane.nonzero()[:, 0]], x.index_put((self.plane,), x[0, 0, 0]), x.index_put((x > 0,), x[0, 0, 0]),
                  x.index_put((self.mask,), x[:2] * 2),
                  torch.ops.aten.index_put(x, [None, None, self.columns], x[:, :, :3] * 2, True)]
        repeated = [x.repeat_interleave(2), x.repeat_interleave(self.repeats, dim=0, output_size=3),
                    rows.repeat_interleave(torch.tensor(2), 1, output_size=8)]
        resized = [F.interpolate(x, size=7), F.interpolate(x, scale_factor=0.77), F.interpolate(x, size=7, mode="nearest-exact")]
        sampled = [F.grid_sample(image, grid, mode, padding, align_corners=corners)
                   for mode, padding, corners in (("bicubic", "zeros", True), ("bicubic", "border", False), ("bilinear", "reflection", False),
                                                  ("bicubic", "reflection", True), ("nearest", "reflection", True))]
        return (*self.scattered(rows), *self.quotients(), *self.masked(x), *chosen, *repeated, *resized, *sampled, torch.rsub(x, 2, alpha=0.5),
                torch.rsub(x, x[:1], alpha=3), *self.lstm(x)[1])


class Written(nn.Module):
    """Functions that deplo composes of others in its expression language."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("numbers", torch.tensor([[4, -2, 0], [7, 7, -9]]))
        self.register_buffer("labels", torch.tensor([[1, 3, -1, 0], [2, -1, 0, 1]]))

    def pointwise(self, x):
        y, whole = x.flip(0), torch.round(x)
        return [torch.fmax(x, y), torch.fmin(x, y), torch.signbit(x), torch.isposinf(x / 0), torch.isneginf(x / 0), torch.isclose(x, y, 0.5),
                torch.isclose(x, y, atol=0.25), torch.float_power(x.abs(), 2.5), torch.float_power(2, x), torch.xlogy(x.abs(), y.abs()),
                torch.xlogy(2, y.abs()), torch.sinc(x), torch.heaviside(whole, y), torch.deg2rad(x), torch.rad2deg(x), torch.ldexp(x, whole),
                torch.logaddexp2(x, y), torch.isin(whole, whole[0]), torch.isin(self.numbers, 7, invert=True), torch.special.sinc(x)]

    def reductions(self, x):
        gaps = torch.where(x > 1, torch.nan, x)
        return [*torch.aminmax(x), *torch.aminmax(x, dim=1, keepdim=True), torch.count_nonzero(self.numbers), torch.count_nonzero(self.numbers, 1),
                torch.nansum(gaps), torch.nansum(gaps, 1, keepdim=True), torch.nanmean(gaps, (0, 2)), torch.dist(x[0], x[1]),
                torch.dist(x[0], x[1], 1), torch.trapezoid(x, dx=0.5), torch.trapezoid(x, x[0, 0], dim=-1), torch.linalg.matrix_norm(x),
                torch.quantile(x, 0.3, dim=2), torch.kthvalue(x, 2, 0).values, torch.msort(x), torch.mode(torch.round(x), 2).values,
                torch.nanmedian(gaps), torch.nanmedian(gaps, 2, keepdim=True).values, torch.cumulative_trapezoid(x, dx=0.5),
                torch.cumulative_trapezoid(x, x[0, 0]), torch.i0(x), torch.special.i0(x), torch.special.i0e(x), torch.special.digamma(x * x + 1)]

    def products(self, x):
        a, b, square = x[0], x[1], x[:, :, :2]
        return [torch.tensordot(x, x, dims=([1, 2], [1, 2])), torch.tensordot(a, b.T, 1), torch.inner(a, b), torch.vdot(a[0], b[1]),
                torch.addmv(a[:, 0], b, a[0], beta=0.5), torch.addr(b, a[:, 1], b[0], alpha=2), torch.addbmm(a[:, :2], x, x.mT),
                torch.linalg.matrix_power(square, 3), torch.matrix_power(square, 0), torch.linalg.multi_dot((a, b.T, a)),
                torch.chain_matmul(a, b.T), torch.ger(a[0], b[0]),
                torch.linalg.solve_triangular(square, x, upper=False, unitriangular=True)]

    def matrices(self, x):
        square = x[:, :, :2] * 2 + torch.eye(2)
        return [torch.linalg.inv(square), torch.inverse(square), torch.linalg.inv_ex(square).inverse, torch.det(square), torch.linalg.det(square),
                torch.linalg.solve(square, x), torch.linalg.solve(square, x[:, :, 0])]

    def forward(self, x):
        shaped = [torch.column_stack((x[0, 0], x[1].T)), torch.diagflat(x[0, 0], 1), torch.block_diag(x[0], x[1, 0], x[2]),
                  torch.cartesian_prod(x[0, 0], x[1, 1]), (x[0] * 1).fill_diagonal_(5.0), F.pdist(x[0].T)]
        made = [torch.hann_window(4, dtype=x.dtype) + x, torch.hamming_window(4, False, dtype=x.dtype) + x,
                torch.blackman_window(4, dtype=x.dtype) + x, torch.bartlett_window(4, dtype=x.dtype) + x, torch.tril_indices(3, 4, 1), torch.triu_indices(3, 4)]
        losses = [F.multilabel_margin_loss(x[0], self.labels), F.multilabel_margin_loss(x[1], self.labels, reduction="none")]
        most, places = F.max_pool2d(x[None], 2, return_indices=True)
        losses.append(F.max_unpool2d(most, places, 2))
        same = F.alpha_dropout(x, 0.5, self.training), F.feature_alpha_dropout(x, 0.5, self.training)
        return (*self.pointwise(x), *self.reductions(x), *self.products(x), *self.matrices(x), *shaped, *made, *losses, *same)


class Chosen(nn.Module):
    """Results that torch.cond chooses, also within each other, and functions that core ATen has under other names."""
    def __init__(self, o):
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(4, 3)

    def choose(self, condition, x):
        def inner(x):
            return torch.cond(x.amax() > 100, lambda x: x - 1, lambda x: x * x, (x,))

        return torch.cond(condition, lambda x: (self.first(x), x.amax() > 0, inner(x)),
                          lambda x: (self.second(x).relu(), x.amin() > 0, inner(-x) + 1), (x,))

    def forward(self, x):
        turned = x[0] * 1
        turned.diagonal(1).mul_(2)
        pooled = [F.avg_pool2d(x, 2, count_include_pad=included, divisor_override=3) for included in (False, True)]
        return (*self.choose(x[0, 0, 0] > -100, x), *self.choose(x[0, 0, 0] > 100, x), turned, *pooled, F.pdist(x[0]),
                torch.cdist(torch.round(x), torch.round(x[:1]), p=0), F.poisson_nll_loss(x[0], x[1].abs(), full=True))


class Quantized(nn.Module):
    """What programs quantized by torch.ao call, and fake quantization. Halves show when the zero point is added."""
    def __init__(self, o):
        super().__init__()
        import torch.ao.quantization.fx._decomposed  # noqa: F401 (it adds torch.ops.quantized_decomposed)
        self.scales, self.zeros = torch.tensor([0.25, 0.5]), torch.tensor([1, -2])
        self.ends, self.groups, self.starts = torch.tensor([-0.5, 191 / 128]), torch.rand(6, 3).round() + 1, torch.arange(18).reshape(6, 3) % 5
        self.bytes = torch.randint(-127, 128, (5, 16), dtype=torch.int8)

    def dynamic(self, x):
        """Tokens whose scales are powers of 2, groups of two numbers, and a product with packed weights."""
        ops, tokens = torch.ops.quantized_decomposed, torch.cat((x.clamp(-0.5, 191 / 128), self.ends.float().expand(3, 2, 2)), -1)
        results = [*ops.choose_qparams(tokens, -128, 127, 1e-5, torch.int8), *ops.choose_qparams_per_token(tokens.clamp(-127 / 128, 127 / 128), torch.int8)]
        for scales, zeros in ((results[2], results[3]), ops.choose_qparams_per_token_asymmetric(tokens, torch.int8)):
            whole = ops.quantize_per_token(tokens, scales, zeros, -128, 127, torch.int8)
            results += [whole, ops.dequantize_per_token(whole, scales, zeros, -128, 127, torch.int8, torch.float32)]
        groups = self.groups.float(), self.starts, -8, 7, torch.int8, 2
        whole = ops.quantize_per_channel_group(tokens.reshape(6, 6), *groups)
        return (*results, scales, zeros, whole, ops.dequantize_per_channel_group(whole, *groups, torch.float32),
                torch._weight_int8pack_mm(x.reshape(6, 4).repeat(1, 4), self.bytes, self.groups[:5, 0].float() / 4))

    def forward(self, x):
        ops, halves = torch.ops.quantized_decomposed, torch.round(x * 4) / 8
        numbers, wide = (0.25, 3, -5, 7, torch.int8), halves.float()
        tensors = (torch.tensor(0.25), torch.tensor(3), 0, 7, torch.uint8)
        channels = (self.scales.float(), self.zeros, 1, -5, 7, torch.int8)
        results = [torch.fake_quantize_per_tensor_affine(halves, 0.25, 1, -5, 7),
                   torch.fake_quantize_per_channel_affine(halves, self.scales.float(), self.zeros.int(), 1, -5, 7)]
        for how, arguments in (("tensor", numbers), ("tensor", tensors), ("channel", channels)):
            whole = getattr(ops, f"quantize_per_{how}")(wide, *arguments)
            results += [whole, getattr(ops, f"dequantize_per_{how}")(whole, *arguments)]
        return (*results, *self.dynamic(wide))


class Blocks(nn.Module):
    """What programs quantized by torchao call. All scales are powers of 2."""
    def __init__(self, o):
        super().__init__()
        import torchao.quantization.quant_primitives  # noqa: F401 (it adds torch.ops.torchao)
        self.ends, self.bytes = torch.tensor([-0.5, 191 / 128]), torch.randint(-8, 8, (4, 6), dtype=torch.int8)
        self.scales, self.zeros = torch.tensor([[0.25, 0.5]] * 4), torch.randint(-3, 4, (4, 2), dtype=torch.int8)

    def forward(self, x):
        ops, results = torch.ops.torchao, []
        tokens = torch.cat(((torch.round(x * 4) / 8).float().clamp(-0.5, 191 / 128), self.ends.float().expand(3, 2, 2)), -1)
        for kind, bound, block, keep in (("SYMMETRIC", 255 / 256, [1, 1, 6], True), ("ASYMMETRIC", 2, [1, 2, 6], False),
                                         ("SYMMETRIC_NO_CLIPPING_ERR", 127 / 128, [3, 2, 6], False), ("ASYMMETRIC", 2, [1, 1, 2], True)):
            given = tokens.clamp(-bound, bound) if block[2] > 2 else self.ends.float().repeat(3, 2, 2)
            scale, zero = ops.choose_qparams_affine(given, kind, block, torch.int8, -128, 127, 1e-7, torch.float32, torch.int32, keep)
            whole = ops.quantize_affine(given, block, scale, zero, torch.int8, -128, 127)
            results += [scale, zero, whole, ops.dequantize_affine(whole, block, scale, zero, torch.int8, -128, 127)]
        return (*results, ops.dequantize_affine(self.bytes, [1, 3], self.scales.float(), self.zeros, torch.int8, -8, 7))


class Regions(nn.Module):
    """What models of torchvision read between the elements of images: deformable convolutions, and boxes."""
    def __init__(self, o):
        super().__init__()
        from torchvision.ops import deform_conv2d, roi_align
        self.deformed, self.boxed = deform_conv2d, roi_align
        self.wide, self.bias, self.point = (nn.Parameter(torch.randn(s)) for s in ((2, 2, 2, 3), (2,), (3, 4, 1, 1)))
        self.register_buffer("boxes", torch.tensor([[1, 0, 0, 4, 6], [0, 1, 2, 2.5, 3], [1, -9, -4, 2.5, 3], [0, 2, 1, 20, 30]]))

    def forward(self, x):
        images = torch.cat((x, x.flip(0)), 2).reshape(2, 4, 3, 2)
        moves, mask = images.repeat(1, 6, 1, 1) * 2, images.repeat(1, 3, 1, 1).sigmoid()
        boxes = [self.boxed(images, self.boxes, (2, 3), 0.5, samples, aligned) for samples, aligned in ((1, True), (2, False))]
        return (self.deformed(images, moves, self.wide, self.bias, (1, 2), (1, 2), (2, 1), mask),
                self.deformed(images, images[:, :2], self.point), *boxes)


class Recurrent(nn.Module):
    """The last states of LSTMs, whose shapes files of PyTorch 2.5 to 2.9 state wrongly, and torch.no_grad."""
    def __init__(self, o):
        super().__init__()
        self.two, self.both = nn.LSTM(4, 3, 2, batch_first=True), nn.LSTM(4, 3, bidirectional=True)
        self.one, self.head = nn.LSTM(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        y, (hidden, cell) = self.two(x)
        with torch.no_grad():
            single = self.one(x)[1][0]
        return (y, hidden, self.head(hidden[-1]).softmax(-1), cell.transpose(0, 1) * 2, hidden.mean(1), self.both(x)[0],
                single.squeeze(0), hidden.reshape(6, 3))


class Steps(nn.Module):
    """scan, integers and indices that constants hold, a row as a weight, and a size that only checks read."""
    def __init__(self, o):
        super().__init__()
        self.weight, self.line = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4))
        self.register_buffer("width", torch.tensor(3))
        self.register_buffer("mask", torch.tensor([[True, False, True, True], [False, True, False, False]]))

    def forward(self, x):
        from torch._higher_order_ops.scan import scan

        def step(states, row):
            first = torch.tanh(states[0] @ self.weight + row)
            return [first, states[1] + 1], [first.sum(-1), states[1] * row]

        states, results = scan(step, [x[0] * 2, x[1] * 1], x)
        padded = F.pad(x, (0, self.width.item() - 1))
        count = x[x > 0].numel()
        torch._check(count <= x.numel())
        return (*states, *results, padded * 2, padded.sum(0), F.linear(x, self.line), x[0][torch.where(self.mask)])


class Fourier(nn.Module):
    """Fourier transforms of real and complex numbers, of lines and of planes, and of windows of a signal."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("filter", torch.complex(torch.randn(2, 3), torch.randn(2, 3)))
        self.register_buffer("window", torch.hann_window(6))

    def forward(self, x):
        line, plane, signal = torch.fft.rfft(x), torch.fft.fft2(x), x.reshape(2, 12)
        parts = [line.real, line.imag, line.abs(), line[..., 1:2].angle().cos(), plane.real, torch.fft.ifft2(plane).real,
                 torch.fft.fftn(x, norm="forward").imag, torch.fft.ifft(plane, dim=1, norm="ortho").imag,
                 torch.fft.irfft(line * self.filter.to(line.dtype), norm="ortho"), torch.fft.irfft(line, n=7),
                 torch.fft.rfft(x, n=6, dim=0).real, torch.fft.irfftn(torch.fft.rfftn(x, dim=(0, 2)), s=(3, 4), dim=(0, 2)),
                 torch.fft.fftshift(x), torch.fft.ifftshift(x, dim=-1), (plane + plane.conj()).real, (plane - plane.conj()).imag,
                 torch.fft.fft(x + 0 * line[..., :1].real, n=3).transpose(0, 2).real, (plane @ plane.transpose(1, 2)).real]
        spectrum = torch.stft(signal, 8, 3, 6, self.window.to(x.dtype), return_complex=True)
        return (*parts, spectrum.abs(), torch.fft.fft(signal.permute(1, 0), dim=0).permute(1, 0).imag)


class ComplexNumbers(nn.Module):
    """A layer of a Fourier neural operator, a state space model, and other operations on complex numbers."""
    def __init__(self, o):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3, 2, 2, dtype=torch.cfloat))

    def operator(self, x):
        spectrum = torch.fft.rfft2(x[..., None, :].expand(-1, -1, 4, -1) + x[:, :, :1, None])
        weight, low = self.weight.to(spectrum.dtype), torch.zeros(3, 3, 4, 3, dtype=spectrum.dtype)
        low[:, :, :2, :2] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :2, :2], weight)
        low[:, :, -2:, :2] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -2:, :2], weight.conj())
        return torch.fft.irfft2(low, s=(4, 4))

    def forward(self, x):
        z = torch.view_as_complex(x.reshape(3, 2, 2, 2))
        state = z * 1
        state[1:].mul_(2j)
        state.transpose(0, 1)[1].add_(1)
        state[:, 0, 1:] = z[:, 1, :1]
        decay = torch.exp((-x.exp() + 1j * x)[..., None] * torch.arange(3))
        arithmetic = (z / z.flip(0), 1 / z, (1 - 2j) * z + 1j, 1j - z, z ** 2, z - x[..., :2], -z, z * (x[..., :2] > 0))
        functions = (z.sqrt(), z.log(), z.sin(), z.tanh(), z.reciprocal(), z.abs(), z.angle(), z.sgn(), torch.polar(x.abs(), x))
        products = (z @ z.mH, z @ x[..., :2].to(z.dtype), torch.einsum("bij,bkj->bik", z, z.conj()))
        sums = (z.sum(), z.mean(0), z.sum(1, keepdim=True), z.cumsum(0))
        shapes = (z.flatten(1), z[0].T, z.permute(2, 0, 1), z[None, :, 1], z.repeat(1, 2, 1), z[torch.tensor([2, 0])], *z.chunk(2, -1),
                  z.unbind(0)[1], torch.cat([z, state], -1), torch.stack([z, z.conj()], 1), F.pad(z, (1, 2)), z.roll(1, 0))
        choices = (torch.where(x[..., :2] > 0, z, 0), z.masked_fill(x[..., :2] > 0, 1j), z == z.conj(), z != 0, z.isfinite())
        made = (torch.full((3,), 1 + 1j, dtype=z.dtype) * z[:, 0, 0], torch.zeros_like(z) + x[..., :2], torch.ones_like(z) * 2j)
        return (self.operator(x), z.clone(), state, decay, *arithmetic, *functions, *products, *sums, *shapes, *choices, *made)


class Spectra(nn.Module):
    """Complex numbers as input, as output and in between: products, quotients, joins, changes in place, windows of a signal."""
    def __init__(self, o):
        super().__init__()
        self.register_buffer("filter", torch.complex(torch.randn(5, 3), torch.randn(5, 3)))
        self.register_buffer("window", torch.hann_window(6))

    def forward(self, z):
        filter, window = self.filter.to(z.dtype), self.window.to(z.real.dtype)
        signal, changed = torch.istft(z, 8, 2, 6, window, length=18), z.clone()
        changed.mul_(2)
        changed[:, 1:3] = z[:, :2]
        changed[..., 0] += 1
        numbers = (z / (z.abs() + 1), z / z.roll(1, 2), 2 / z, z.reciprocal(), z.exp(), -z, z.square(), z ** 2)
        sums = z.sum(1), z.mean(-1, keepdim=True), z.cumsum(2), torch.einsum("bft,bgt->bfg", z, z.conj()), filter.mH @ z
        moved = (z[:, 2], z[..., [3, 0]], z.flip(1), z.unbind(2)[4], z.split(2, 1)[1], z.tril(), torch.einsum("bft->btf", z),
                 torch.where(z.real > 0, z, z.conj()), torch.stack((z, changed), 1)[:, 1, :2], torch.cat((z, changed[:, :1]), 1))
        made = torch.full_like(z, 2) * z[..., :1], torch.zeros(9, dtype=z.dtype) + z[:, 0], torch.ones_like(z) - z
        windows = (signal, torch.istft(z, 8, 4, center=False), torch.istft(z[0], 8, 3, 6, window, normalized=True),
                   torch.istft(torch.cat((z, z[:, 1:4].flip(1).conj()), 1), 8, 2, onesided=False, length=30),
                   torch.stft(signal, 8, 3, 6, return_complex=True), torch.fft.rfft(signal[:, :8]).angle(),
                   torch.fft.fft(signal[:, 8:16]).angle())
        return numbers + sums + moved + made + windows


class Conjugates(nn.Module):
    """Functions of complex numbers whose arguments have other names in exported programs, and parts of conjugates."""
    def __init__(self, o):
        super().__init__()

    def forward(self, x):
        z, i = torch.view_as_complex(x.reshape(3, 4, 2)), torch.tensor([[0], [1], [1]])
        products = torch.dot(z[0], z[1]), torch.mv(z, z[0]), torch.linalg.vecdot(z, z.roll(1, 0)), F.conv1d(z[None], z[:, None, :2], z[:, 0], groups=3)
        parts = z.conj().imag + 1, z.mH.imag, torch.tensor_split(z, 3, 1)[0], torch.tensor_split(z, (1, 2), 1)[1], z.view(x.dtype)
        sums = z.std(0), z.var(1, correction=0), z.std(unbiased=False), torch.linalg.norm(z), F.normalize(z)
        placed = (z.scatter(1, i, z * 2), z.scatter_add(1, i, z), z.index_put((i[:, 0],), z, accumulate=True), z.index_fill(0, i[1], 0),
                  F.embedding(i, z), torch.meshgrid(z[0], z[1], indexing="ij")[1], z.select_scatter(z[0], 0, 1))
        moved = z * torch.exp(-1j * torch.fft.fftfreq(4).to(x.dtype)), torch.fft.irfft(x), torch.fft.hfft(z), torch.fft.ihfft(x), torch.fft.fftshift(x)
        return *products, *parts, *sums, *placed, *moved, z.tan(), torch.addcmul(z, z, z), z.real ** z, (1 + 1j) ** z


class Dynamic(nn.Module):
    """Sizes that the exported program leaves open, in all places: attention, views, pads, windows, factors, inner graphs."""
    dynamic_shapes = ({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},)

    def __init__(self, o):
        super().__init__()
        self.qkv, self.conv = nn.Linear(4, 12), nn.Conv1d(4, 3, 3, stride=2, padding=1)

    def attend(self, x):
        batch, seq, _ = x.shape
        q, k, v = self.qkv(x).view(batch, seq, 3, 2, 2).permute(2, 0, 3, 1, 4)
        mask = torch.full((seq, seq), -torch.inf, dtype=x.dtype).triu(1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return y.transpose(1, 2).reshape(batch, seq, 4) + torch.arange(seq, dtype=x.dtype)[:, None] / seq

    def forward(self, x):
        batch, seq, _ = x.shape
        turned, few = x.transpose(1, 2), x[:, :, :1]
        with torch.no_grad():
            inner = x.reshape(batch * 4, -1).sum(1) * batch
        chosen = torch.cond(x.amax() > 100, lambda x: x.reshape(2 * seq, -1).sum(1), lambda x: x.reshape(2 * seq, -1).amax(1), (x,))
        changed = few * 1
        changed[:, seq // 2:].mul_(seq ** 0.5)
        return (self.attend(x), self.conv(turned), inner, chosen, changed, few[:, : seq // 2].repeat(1, 2, 1), F.pad(few, (0, 0, 0, -(seq + 1) % 4)),
                F.interpolate(few.mT, size=seq * 2 - 1, mode="linear"), F.interpolate(few.mT, scale_factor=1.5), x.sum(1) / (seq - 1),
                few.unfold(1, 3, 2), torch.cat((few, few[:, : min(seq, 5)]), 1), few.new_zeros(batch, max(seq - 3, 1)) + x[:1, :1, 0],
                F.adaptive_avg_pool1d(turned, 2), few[:, ::2].flatten(0, 1), few.expand(batch, batch, seq, 1).mean(0).cumsum(1))


MODELS = {"llama-block": LlamaBlock, "mlp": Mlp, "head": Head, "multihead": Multihead, "routed-mlp": RoutedMlp,
          "operators": Operators, "corners": Corners, "narrow": Narrow, "packed": Packed,
          "copies": Copies, "views": Views, "state": State, "strided": Strided, "rotary": Rotary, "assorted": Assorted,
          "fourier": Fourier, "complex": ComplexNumbers, "spectra": Spectra, "conjugates": Conjugates, "placed": Placed, "written": Written, "chosen": Chosen,
          "quantized": Quantized, "dynamic": Dynamic, "recurrent": Recurrent, "regions": Regions, "steps": Steps, "blocks": Blocks}


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", choices=MODELS, default="llama-block")
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--kv-heads", type=int, default=2)
    p.add_argument("--ffn", type=int, default=96)
    p.add_argument("--seq", type=int, default=7)
    p.add_argument("--vocabulary", type=int, default=11)
    p.add_argument("--qkv-bias", action="store_true")
    p.add_argument("--qk-norm", action="store_true")
    p.add_argument("--attention", choices=["sdpa", "eager"], default="sdpa")
    p.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="float32", help="type of the file's weights")
    p.add_argument("--decompose", action="store_true", help="write core ATen")
    p.add_argument("--bare", action="store_true", help="leave out stack traces, so that the file is smaller")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--expected", metavar="JSON", help="also write inputs and outputs, computed in float64")
    p.add_argument("output", metavar="FILE.pt2")
    return p.parse_args()


def example(o):
    if o.model == "head":
        return torch.randint(0, o.vocabulary, (1, o.seq))
    if o.model in ("operators", "corners", "narrow", "copies", "views", "state", "strided", "rotary", "assorted", "fourier", "complex", "conjugates", "placed", "written",
                   "chosen", "quantized", "recurrent", "regions", "steps", "blocks"):
        return torch.randn(3, 2, 4)
    if o.model == "spectra":
        return torch.randn(2, 5, 9, dtype=torch.complex64)
    if o.model == "multihead":
        return torch.randn(2, o.seq, o.hidden)
    if o.model == "dynamic":
        return torch.randn(o.seq // 2, o.seq, 4)
    return torch.randn(1, o.seq, o.hidden).to(getattr(torch, o.dtype))


def write_expected(path, model, x):
    wide, given = copy.deepcopy(model).double(), x if x.dtype == torch.int64 else x.to(torch.promote_types(x.dtype, torch.float64))
    states = [*wide.buffers(), *(t for t in vars(wide).values() if isinstance(t, torch.Tensor)), given]
    old = [t.clone() for t in states]
    with torch.no_grad():
        y = wide(given)
    changed = [t for t, before in zip(states, old) if not torch.equal(t, before)]
    real = lambda t: torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
    tensor = lambda t: {"shape": list(real(t).shape), "values": real(t).flatten().tolist()}
    outputs = [tensor(t) for t in (*(y if isinstance(y, tuple) else (y,)), *changed) if t is not None]
    with open(path, "w") as f:
        json.dump({"torch": torch.__version__, "inputs": [tensor(x)], "outputs": outputs}, f)
        f.write("\n")


def main():
    o = options()
    torch.manual_seed(o.seed)
    model = MODELS[o.model](o).eval().to(getattr(torch, o.dtype))
    x = example(o)
    program = torch.export.export(model, (x,), dynamic_shapes=getattr(model, "dynamic_shapes", None))
    if o.decompose:
        program = program.run_decompositions()
    if o.bare:
        graphs = [m.graph for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)]
        for node in (node for graph in graphs for node in graph.nodes):
            for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
                node.meta.pop(key, None)
    torch.export.save(program, o.output)
    if o.expected:
        write_expected(o.expected, model, x)


if __name__ == "__main__":
    main()
