"""The distributions of torch.distributions."""
import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical, Independent, Normal, kl_divergence


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_std = nn.Parameter(torch.randn(2))
        self.mu = nn.Linear(4, 2)
        self.logits = nn.Linear(4, 3)

    def forward(self, x, action):
        choice = torch.tensor([2, 0])
        policy = Normal(self.mu(x), self.log_std.exp())
        squashed = policy.log_prob(action).sum(-1) - torch.log(1 - action.tanh() ** 2 + 1e-6).sum(-1)
        joint, other = Independent(policy, 1), Independent(Normal(0.5, 2.0 + action ** 2), 1)
        discrete = Categorical(logits=self.logits(x))
        uniform = Categorical(probs=torch.tensor([[0.25, 0.5, 0.0], [0.5, 0.0, 1.0]]))
        coin, fair = Bernoulli(logits=x), Bernoulli(0.5)
        return (squashed, policy.entropy(), policy.cdf(action), policy.mean + policy.mode, policy.stddev, policy.variance,
                joint.log_prob(action), joint.entropy(), joint.mean - joint.mode + joint.variance,
                kl_divergence(joint, other), kl_divergence(discrete, Categorical(probs=discrete.probs ** 2)),
                kl_divergence(uniform, discrete), discrete.log_prob(choice), discrete.entropy(), discrete.mode,
                uniform.log_prob(torch.tensor([1, 0])), uniform.entropy(), coin.log_prob((action[:, :1] > 0).to(x.dtype)),
                coin.entropy(), coin.mean, coin.variance, Bernoulli(probs=coin.probs).log_prob((x > 0).to(x.dtype)), fair.entropy())


def get_inputs():
    return [torch.randn(2, 4), torch.randn(2, 2)]


def get_init_inputs():
    return []
