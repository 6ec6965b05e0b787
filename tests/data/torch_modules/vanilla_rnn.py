import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, output_size: int):
        super(Model, self).__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.output_size = output_size
        self.hidden = torch.randn((batch_size, hidden_size))
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.tanh = nn.Tanh()

    def forward(self, x: torch.Tensor, initial_hidden=None) -> torch.Tensor:
        if initial_hidden is not None:
            self.hidden.copy_(initial_hidden)
        self.hidden = self.hidden.to(x.device)
        seq_len = x.size(0)
        outputs = []
        for t in range(seq_len):
            combined = torch.cat((x[t], self.hidden), dim=1)
            self.hidden = self.tanh(self.i2h(combined))
            output = self.h2o(self.hidden)
            outputs.append(output)
        return torch.stack(outputs, dim=0)


batch_size = 2


def get_inputs():
    return [torch.randn(4, batch_size, 3), torch.randn(batch_size, 5)]


def get_init_inputs():
    return [3, 5, 2]
