import torch
import torch.nn as nn


class Model(nn.Module):
    """Cells, step by step, and networks of both directions."""
    def __init__(self, width):
        super().__init__()
        self.lstm_cell = nn.LSTMCell(3, width)
        self.rnn_cell = nn.RNNCell(width, width, nonlinearity="relu")
        self.plain = nn.RNNCell(width, 2, bias=False)
        self.gru = nn.GRU(width, 3, bidirectional=True, batch_first=True)
        self.rnn = nn.RNN(width, 3, num_layers=2, bidirectional=True, bias=False)

    def forward(self, x):
        h = c = torch.zeros(x.shape[1], 4)
        steps, small = [], None
        for step in x:
            h, c = self.lstm_cell(step, (h, c))
            steps.append(self.rnn_cell(h))
            small = self.plain(steps[-1], small)
        y = torch.stack(steps)
        out, last = self.gru(y.transpose(0, 1))
        others, h_n = self.rnn(y)
        return h, c, small, out, last, others, h_n, self.gru(y[:, 0])[0]


def get_inputs():
    return [torch.randn(3, 2, 3)]


def get_init_inputs():
    return [4]
