import numpy as np
import torch
import torch.nn as nn


class Model(nn.Module):
    """Embeddings and their products, as in DLRM. The layers are in a local list first."""
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, len(ln) - 1):
            layers.append(nn.Linear(int(ln[i]), int(ln[i + 1]), bias=True))
            layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
        return torch.nn.Sequential(*layers)

    def __init__(self, m_spa, ln_emb, ln_bot, ln_top):
        super(Model, self).__init__()
        self.emb_l = nn.ModuleList([nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb])
        self.bot_l = self.create_mlp(np.array(ln_bot), -1)
        self.top_l = self.create_mlp(np.array(ln_top), len(ln_top) - 2)

    def forward(self, dense_x, ids):
        ids = torch.abs(ids * 8).long()
        x = self.bot_l(dense_x)
        ly = [emb(ids[:, k]) for k, emb in enumerate(self.emb_l)]
        (batch_size, d) = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        R = torch.cat([x] + [Z[:, li, lj]], dim=1)
        return torch.clamp(self.top_l(R), min=1e-3, max=(1.0 - 1e-3))


def get_inputs():
    return [torch.randn(3, 5), torch.randn(3, 2, 4)]


def get_init_inputs():
    return [4, [5, 6], [5, 7, 4], [4 + 3, 6, 1]]
