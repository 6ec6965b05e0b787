// torch.distributions, written in the language itself.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_distributions_text() {
  return R"py(
def broadcast_all(*values):
    dtypes = [v.dtype for v in values if torch.is_tensor(v)] + [torch.get_default_dtype()]
    return torch.broadcast_tensors(
        *[v if torch.is_tensor(v) else torch.tensor(float(v), dtype=dtypes[0]) for v in values])

def summed_last(x, dims): return x.sum(list(range(-dims, 0))) if dims > 0 else x

def clamped_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


class Normal:
    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)

    @property
    def mean(self): return self.loc
    @property
    def mode(self): return self.loc
    @property
    def stddev(self): return self.scale
    @property
    def variance(self): return self.scale ** 2

    def rsample(self, sample_shape=()):
        shape = tuple(sample_shape) + tuple(self.loc.shape)
        return self.loc + self.scale * torch.randn(shape, dtype=self.loc.dtype)
    def sample(self, sample_shape=()): return self.rsample(sample_shape)
    def log_prob(self, value):
        return -(value - self.loc) ** 2 / (2 * self.scale ** 2) - self.scale.log() - 0.5 * math.log(2 * math.pi)
    def cdf(self, value): return torch.special.ndtr((value - self.loc) / self.scale)
    def entropy(self): return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Bernoulli:
    def __init__(self, probs=None, logits=None, validate_args=None):
        assert (probs is None) != (logits is None), "either probs or logits"
        if probs is None:
            self.logits, = broadcast_all(logits)
            self.probs = torch.sigmoid(self.logits)
        else:
            self.probs, = broadcast_all(probs)
            clamped = clamped_probs(self.probs)
            self.logits = torch.log(clamped) - torch.log1p(-clamped)

    @property
    def mean(self): return self.probs
    @property
    def variance(self): return self.probs * (1 - self.probs)

    def log_prob(self, value):
        logits, value = torch.broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")
    def entropy(self): return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical:
    def __init__(self, probs=None, logits=None, validate_args=None):
        assert (probs is None) != (logits is None), "either probs or logits"
        if probs is None:
            self.logits = F.log_softmax(logits, -1)
            self.probs = F.softmax(self.logits, -1)
        else:
            self.probs = probs / probs.sum(-1, keepdim=True)
            self.logits = torch.log(clamped_probs(self.probs))

    @property
    def mode(self): return self.probs.argmax(-1)

    def log_prob(self, value):
        places, logits = torch.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, places[..., :1]).squeeze(-1)
    def entropy(self): return -(self.logits.clamp(min=torch.finfo(self.logits.dtype).min) * self.probs).sum(-1)


class Independent:
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims

    @property
    def mean(self): return self.base_dist.mean
    @property
    def mode(self): return self.base_dist.mode
    @property
    def variance(self): return self.base_dist.variance

    def rsample(self, sample_shape=()): return self.base_dist.rsample(sample_shape)
    def sample(self, sample_shape=()): return self.base_dist.sample(sample_shape)
    def log_prob(self, value): return summed_last(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)
    def entropy(self): return summed_last(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


def kl_divergence(p, q):
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio, distance = (p.scale / q.scale) ** 2, ((p.loc - q.loc) / q.scale) ** 2
        return 0.5 * (ratio + distance - 1 - ratio.log())
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        each = torch.where(q.probs == 0, math.inf, p.probs * (p.logits - q.logits))
        return torch.where(p.probs == 0, 0.0, each).sum(-1)
    if isinstance(p, Independent) and isinstance(q, Independent):
        assert p.reinterpreted_batch_ndims == q.reinterpreted_batch_ndims, "the same reinterpreted_batch_ndims"
        return summed_last(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
    raise NotImplementedError("kl_divergence: expected two distributions of one kind: Normal, Categorical, Independent")
)py";
}

}  // namespace deplo::ir::torch::python
