import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=3, bias=True, batch_first=False):
        super(Model, self).__init__()
        self.gru = nn.GRU(input_size, hidden_size, num_layers, bias, batch_first, dropout=0, bidirectional=False)
        self.h0 = torch.randn((num_layers, batch_size, hidden_size))
        self.rnn = nn.RNN(hidden_size, 3, nonlinearity='relu')
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x, h0=None):
        if h0 is None:
            h0 = torch.zeros(3, x.size(1), 4, device=x.device)
        output, h_n = self.gru(x, h0 + self.h0)
        last, _ = self.rnn(output)
        h = last.new_zeros(batch_size, 4)
        for step in last:
            h = self.cell(step, h)
        return output, h_n, h


batch_size = 2


def get_inputs():
    return [torch.randn(3, batch_size, 3)]


def get_init_inputs():
    return [3, 4, 3]
