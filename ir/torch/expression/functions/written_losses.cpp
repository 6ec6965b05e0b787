// Losses of torch.nn that consist of many operations, written in the language itself.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_losses_text() {
  return R"python(
def reduced(losses, reduction):
    assert reduction in ("none", "mean", "sum"), "'none', 'mean' or 'sum' as the reduction"
    return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    batched = input.dim() == 2
    if not batched:
        input, target = input.unsqueeze(0), target.unsqueeze(0)
    classes = input.shape[1]
    counts = torch.cumsum((target < 0).to(torch.int32), 1) == 0  # up to the first -1
    label = target.clamp(min=0)
    hits = (label[:, :, None] == torch.arange(classes)) & counts[:, :, None]
    margins = (1 - (torch.gather(input, 1, label)[:, :, None] - input[:, None, :])).clamp(min=0)
    used = counts[:, :, None] & ~hits.any(1, True)
    losses = torch.where(used, margins, 0.0).sum((1, 2)) / classes
    return reduced(losses if batched else losses.squeeze(0), reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    distance = F.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs.shape
    assert targets.dim() == 2 or not batched, "targets (batch, length); concatenated ones have no static shape"
    targets = targets.reshape(batch, -1)
    lengths = [l if isinstance(l, torch.Tensor) else torch.tensor(l) for l in (input_lengths, target_lengths)]
    frames, labels = [l.reshape(-1, 1) for l in lengths]
    length = targets.shape[1]
    blanks = torch.full((batch, length), blank)
    extended = torch.cat([torch.stack([blanks, targets], 2).reshape(batch, 2 * length), blanks[:, :1]], 1)
    place = torch.arange(2 * length + 1)
    skips = (extended != F.pad(extended, (2, -2))) & (place % 2 == 1) & (place > 1)
    seen = torch.gather(log_probs, 2, extended.unsqueeze(0).expand(steps, batch, 2 * length + 1))
    alpha = torch.where(place < 2, seen[0], -math.inf)
    def shifted(x, by):
        return F.pad(x, (by, -by), value=-math.inf)
    for t in range(1, steps):
        before = torch.stack([alpha, shifted(alpha, 1), torch.where(skips, shifted(alpha, 2), -math.inf)])
        alpha = torch.where(t < frames, torch.logsumexp(before, 0) + seen[t], alpha)
    is_end = (place == 2 * labels) | (place == 2 * labels - 1)
    losses = -torch.logsumexp(torch.where(is_end, alpha, -math.inf), 1)
    if zero_infinity:
        losses = torch.where(losses == math.inf, 0.0, losses)
    if reduction == "mean":
        losses = losses / labels.reshape(-1).clamp(min=1)
    return reduced(losses if batched else losses.squeeze(0), reduction)


class MultiLabelMarginLoss(nn.Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, input, target):
        return multilabel_margin_loss(input, target, reduction=self.reduction)


class TripletMarginWithDistanceLoss(nn.Module):
    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function, self.margin, self.swap, self.reduction = distance_function, margin, swap, reduction

    def forward(self, anchor, positive, negative):
        return triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                 margin=self.margin, swap=self.swap, reduction=self.reduction)


class CTCLoss(nn.Module):
    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                        self.zero_infinity)


class NLLLoss2d(nn.NLLLoss): pass


class AdaptiveLogSoftmaxWithLoss(nn.Module):
    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        self.cutoffs = list(cutoffs) + [n_classes]
        self.n_classes = n_classes
        clusters = len(self.cutoffs) - 1
        self.head = nn.Linear(in_features, self.cutoffs[0] + clusters, bias=head_bias)
        self.tail = nn.ModuleList([
            nn.Sequential(nn.Linear(in_features, int(in_features // div_value ** (i + 1)), bias=False),
                          nn.Linear(int(in_features // div_value ** (i + 1)), self.cutoffs[i + 1] - self.cutoffs[i],
                                    bias=False))
            for i in range(clusters)])

    def log_prob(self, input):
        shortlist = self.cutoffs[0]
        head = F.log_softmax(self.head(input), dim=-1)
        parts = [head[..., :shortlist]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), dim=-1) + head[..., shortlist + i:shortlist + i + 1])
        return torch.cat(parts, -1)

    def predict(self, input): return self.log_prob(input).argmax(-1)

    def forward(self, input_, target_):
        output = torch.gather(self.log_prob(input_), -1, target_.unsqueeze(-1)).squeeze(-1)
        return output, -output.mean()
)python";
}

}  // namespace deplo::ir::torch::python
