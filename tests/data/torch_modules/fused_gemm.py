import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Linear layers with what level 2 puts after them."""
    def __init__(self, in_features, out_features, add_value_shape, divisor=2.0, pool_kernel_size=4, max_dim=1):
        super(Model, self).__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.add_value = nn.Parameter(torch.randn(add_value_shape))
        self.subtract = nn.Parameter(torch.randn(out_features))
        self.bn = nn.BatchNorm1d(out_features, eps=1e-05, momentum=0.1)
        self.scale = nn.Parameter(torch.ones((1,)))
        self.avg_pool = nn.AvgPool1d(kernel_size=pool_kernel_size)
        self.divisor = divisor
        self.max_dim = max_dim
        self.constant = nn.Parameter(torch.tensor(0.5))
        self.hardtanh = nn.Hardtanh(min_val=-1.0, max_val=2.0)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        original_x = x.clone().detach()
        x = self.gemm(x)
        x = x - self.subtract
        x = self.scale * self.bn(x)
        x = torch.sigmoid(x) * x
        x = x / self.divisor
        x = torch.min(x, self.constant) - self.constant
        x = self.dropout(self.hardtanh(x))
        p = self.avg_pool(x.unsqueeze(1)).squeeze(1)
        p = F.gelu(p) * 2.0
        p = torch.max(p, dim=1).values
        m = torch.max(x, dim=self.max_dim, keepdim=True).values
        m = m - m.mean(dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        x = F.leaky_relu(x, negative_slope=0.01)
        x = x + original_x + self.add_value
        x = torch.nn.functional.gelu(x)
        return x, p, torch.softmax(m + x, dim=1)


def get_inputs():
    return [torch.randn(3, 6)]


def get_init_inputs():
    return [6, 8, (6,)]
