"""Python's numbers and what modules ask about tensors, dtypes and modules: what is not computed by a kernel."""
import itertools
import logging
import math
import operator
import warnings
from functools import reduce

import torch
import torch.nn as nn
from torch.cuda.amp import autocast
from torch.nn.modules.batchnorm import _BatchNorm

logger = logging.getLogger(__name__)
logging.basicConfig(level=logging.ERROR)


class Wrong(ValueError):
    pass


def numbers():
    return [math.isqrt(10), math.isqrt(16), math.comb(5, 2), math.comb(2, 5), math.perm(5, 2), math.perm(3), math.factorial(5),
            math.factorial(0), math.lcm(4, 6), math.lcm(2, 3, 5), math.hypot(3, 4), math.dist([1, 2], [4, 6]), math.fsum([0.5, 2]),
            int(math.isclose(0.1 + 0.2, 0.3)), int(math.isclose(1, 1.1)), int(math.isclose(1, 1.1, abs_tol=0.2)),
            int(math.isclose(math.inf, 1)), math.trunc(-3.7), math.copysign(3, -0.5), math.tau, math.fmod(-5, 3),
            math.cosh(1), math.sinh(1), math.acos(0.5), math.asin(0.5), math.acosh(2), math.asinh(1), math.atanh(0.5),
            math.atan2(1, -2), math.degrees(1), math.radians(90), math.cbrt(27), math.exp2(3), math.expm1(0.5),
            math.lgamma(4.5), math.erfc(0.5), int(math.isnan(math.nan)), int(math.isfinite(math.inf)), pow(2, 10),
            pow(3, 4, 5), pow(2.0, -1), len(list(itertools.combinations([1, 2, 3, 4], 2))),
            *[a * b for a, b in itertools.combinations((1, 2, 3), 2)], *itertools.accumulate([1, 2, 3]),
            *itertools.accumulate([2, 3], lambda a, b: a * b, initial=4), reduce(operator.mul, (2, 3, 4)),
            operator.add(1, 2), operator.sub(1, 2), operator.truediv(1, 2), operator.floordiv(7, 2),
            operator.itemgetter(1)([5, 6]), *operator.itemgetter(2, 0)((7, 8, 9))]


def questions(x, modules):
    half = x.to(torch.float16)
    return [int(x.device.type == "cpu"), int(x.device.type != "mps"), int(isinstance(x.dtype, torch.dtype)),
            int(isinstance("float32", torch.dtype)), torch.float32.itemsize, torch.int64.itemsize, half.element_size(),
            half.dtype.itemsize, half.itemsize, half.nbytes, int(half.dtype.is_floating_point), int(torch.int8.is_signed),
            int(torch.uint8.is_signed), int(x.layout == torch.strided), int(x.is_sparse), int(x.grad is None),
            *[int(isinstance(m, (_BatchNorm, nn.GroupNorm))) for m in modules],
            *[int(isinstance(m, nn.modules.conv._ConvNd)) for m in modules],
            *[int(isinstance(m, nn.modules.instancenorm._InstanceNorm)) for m in modules],
            *[int(isinstance(m, nn.modules.dropout._DropoutNd)) for m in modules],
            *[int(isinstance(m, nn.modules.batchnorm._NormBase)) for m in modules],
            int(isinstance(modules[1], nn.modules.conv._ConvTransposeNd)),
            int(isinstance(nn.MaxPool2d(2), nn.modules.pooling._MaxPoolNd)),
            int(isinstance(nn.MaxPool2d(2), nn.modules.pooling._AvgPoolNd)),
            int(isinstance(nn.Identity(), nn.modules.rnn.RNNBase)), int(issubclass(nn.Linear, nn.Module)),
            int(issubclass(Model, nn.Module)), int(issubclass(nn.Linear, (nn.Conv2d, nn.Linear))),
            int(issubclass(nn.Linear, nn.Conv2d)), int(issubclass(bool, float)), int(issubclass(nn.BatchNorm1d, _BatchNorm))]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        logger.info("made %s", "it")
        logger.setLevel(logging.WARNING)
        logging.info("made it")

    @autocast(enabled=False)
    def forward(self, x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=UserWarning)
            warnings.filterwarnings("ignore")
            warnings.warn("not shown", DeprecationWarning, stacklevel=2)
        if x.dim() != 2:
            logging.warning("an unusual rank")
            logging.error("an unusual rank")
            logging.debug("an unusual rank")
            logging.critical("an unusual rank")
            torch.cuda.manual_seed(0)
            torch.cuda.manual_seed_all(0)
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            raise Wrong(f"{x.dim()} dimensions")
        modules = [nn.Conv2d(2, 2, 1), nn.ConvTranspose1d(2, 2, 1), nn.BatchNorm2d(2), nn.InstanceNorm1d(2), nn.Dropout(),
                   nn.GroupNorm(1, 2)]
        with torch.cuda.amp.autocast(enabled=False), torch.amp.autocast("cuda", enabled=False):
            y = self.linear(x)
        given = numbers() + questions(x.float(), modules)
        return y, torch.tensor([float(g) for g in given])


def get_inputs():
    return [torch.randn(2, 3)]


def get_init_inputs():
    return []
