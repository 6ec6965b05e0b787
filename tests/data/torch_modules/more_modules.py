import torch
import torch.nn as nn


class Model(nn.Module):
    """Modules that are used less often."""
    def __init__(self, width):
        super().__init__()
        self.transformer = nn.Transformer(width, 2, 1, 2, 12, batch_first=True)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, 2, 12, batch_first=True), 1)
        self.bag = nn.EmbeddingBag(7, width, mode="sum")
        self.sync = nn.SyncBatchNorm(3)
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)
        self.adaptive = nn.AdaptiveLogSoftmaxWithLoss(width, 12, [3, 7], div_value=2.0, head_bias=True)
        self.ctc = nn.CTCLoss(zero_infinity=True)
        self.margin = nn.MultiLabelMarginLoss()
        self.scales = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(2)])
        self.scales.append(nn.Parameter(torch.randn(width)))
        self.shifts = nn.ParameterDict({"left": nn.Parameter(torch.randn(width))})
        self.shifts["right"] = nn.Parameter(torch.randn(1))
        self.triplet = nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(), margin=0.5)

    def forward(self, x, image):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        y = self.transformer(x, x[:, :3], src_mask=mask)
        for scale in self.scales:
            y = y * scale
        y = y + self.scales[1] + self.shifts["left"] * self.shifts["right"] * len(self.scales)
        words = torch.tensor([[1, 2, 6], [0, 3, 3]])
        kept, places = self.pool(image)
        targets = torch.tensor([2, 11, 5])
        output, loss = self.adaptive(y[0], targets)
        lengths = torch.tensor([5, 5]), torch.tensor([2, 1])
        ctc = self.ctc(x.transpose(0, 1).log_softmax(-1), words[:, :2].clamp(min=1), *lengths)
        labels = torch.tensor([[1, 3, -1, 0]]).expand(2, -1)
        return (y, self.decoder(x, x[:, :2].pin_memory() if x.is_cuda else x[:, :2]), self.bag(words), self.sync(image), self.unpool(kept, places), output, loss,
                self.adaptive.log_prob(y[0]), ctc, self.margin(x[:, 0, :4], labels), self.triplet(x[0], x[1], x[0] + 1))


def get_inputs():
    return [torch.randn(2, 5, 8), torch.randn(2, 3, 4, 6)]


def get_init_inputs():
    return [8]
