// Names that modules import from libraries: Python's, torch.nn.utils, einops and numpy. All are written in the language
// itself.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_library_text() {
  return R"python(
import copy
import einops

def partial(function, *first, **named):
    return lambda *rest, **others: function(*first, *rest, **{**named, **others})

def unchanged(function=None, **options): return (lambda f: f) if function is None else function
def lru_cache(maxsize=None, typed=False): return maxsize if callable(maxsize) else lambda f: f
def cache(user_function): return user_function
def wraps(wrapped): return lambda f: f
def cast(typ, val): return val
def compile(model=None, **options): return unchanged(model)
def _assert(condition, message):
    assert condition, message
def script(obj=None, **options): return unchanged(obj)
def Variable(data, requires_grad=False, volatile=False): return data
def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, **kwargs): return function(*args, **kwargs)

# The environment is empty, so that a text means the same everywhere.
environ = {}
def getenv(key, default=None): return environ.get(key, default)

def spread(dims, values):
    if not isinstance(dims, (list, tuple)):
        return (dims,) * len(values)
    assert len(dims) == len(values), f"one dimension for each of {len(values)} tensors, found {len(dims)}"
    return dims

# Calls a function once for each element of a batch, and stacks the results.
class vmap:
    def __init__(self, func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
        assert randomness != "same", "randomness='error' or 'different'"
        self.func, self.in_dims, self.out_dims = func, in_dims, out_dims

    def element(self, args, i):
        return [x if dim is None else x.select(dim, i) for x, dim in zip(args, spread(self.in_dims, args))]

    def __call__(self, *args, **kwargs):
        sizes = {x.shape[dim] for x, dim in zip(args, spread(self.in_dims, args)) if dim is not None}
        assert len(sizes) == 1, f"one size of the batch, found {len(sizes)}"
        results = [self.func(*self.element(args, i), **kwargs) for i in range(*sizes)]
        if not isinstance(results[0], tuple):
            return torch.stack(results, self.out_dims)
        columns = zip(zip(*results), spread(self.out_dims, results[0]))
        return tuple([torch.stack(column, dim) for column, dim in columns])

def library_combinations(iterable, r):
    items = list(iterable)
    return tuple(tuple([items[i] for i in row]) for row in increasing(len(items), r, 1))

def accumulate(iterable, function=None, *, initial=None):
    totals = [] if initial is None else [initial]
    for item in iterable:
        totals.append(item if not totals else totals[-1] + item if function is None else function(totals[-1], item))
    return tuple(totals)

def chain_from_iterable(iterable): return tuple([item for items in iterable for item in items])
def islice(iterable, start, stop=(), step=None):
    return tuple(iterable)[:start] if stop == () else tuple(iterable)[start:stop:step]

def pairwise(iterable):
    items = tuple(iterable)
    return tuple(zip(items, items[1:]))

def starmap(function, iterable): return tuple([function(*items) for items in iterable])
def zip_longest(*iterables, fillvalue=None):
    rows = [list(iterable) for iterable in iterables]
    longest = max([len(row) for row in rows], default=0)
    return tuple(zip(*[row + [fillvalue] * (longest - len(row)) for row in rows]))

class FunctionContext:
    def __init__(self): self.saved_tensors, self.needs_input_grad = (), (False,) * 64
    def save_for_backward(self, *tensors): self.saved_tensors = tensors
    def mark_dirty(self, *tensors): pass
    def mark_non_differentiable(self, *tensors): pass
    def set_materialize_grads(self, value): pass

# torch.autograd.Function.apply. A function with setup_context has a forward without the context.
def apply_function(cls, *inputs):
    return cls.forward(*inputs) if hasattr(cls, "setup_context") else cls.forward(FunctionContext(), *inputs)

class GeneratorContext:
    def __init__(self, function, args, options): self.function, self.args, self.options = function, args, options

def contextmanager(func):
    def context(*args, **options): return GeneratorContext(func, args, options)
    return context

class nullcontext:
    def __init__(self, enter_result=None): self.enter_result = enter_result
    def __enter__(self): return self.enter_result
    def __exit__(self, *error): pass

def values_of_fields(obj): return {name: getattr(obj, name) for name in obj.__dataclass_fields__}
def replace(obj, **changes): return obj.__class__(**{**values_of_fields(obj), **changes})
def fields(class_or_instance): return tuple([SimpleNamespace(name=n) for n in class_or_instance.__dataclass_fields__])
def asdict(obj):
    if isinstance(obj, dict):
        return {key: asdict(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        items = [asdict(item) for item in obj]
        return items if isinstance(obj, list) else tuple(items)
    if hasattr(obj, "__dataclass_fields__"):
        return {name: asdict(value) for name, value in values_of_fields(obj).items()}
    return obj

def is_integer(number): return not math.isinf(number) and not math.isnan(number) and number == math.floor(number)

def math_isqrt(n):
    assert n >= 0, "an n of at least 0"
    root = int(math.sqrt(n))
    while root * root > n:
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root

def math_perm(n, k=None): return math.prod(range(n - (n if k is None else k) + 1, n + 1)) if k is None or k <= n else 0
def math_factorial(n):
    assert n >= 0, "an n of at least 0"
    return math_perm(n)

def math_comb(n, k):
    total = 1
    for i in range(1, min(k, n - k) + 1):
        total = total * (n - i + 1) // i
    return total if k <= n else 0

def math_lcm(*integers):
    total = 1
    for i in integers:
        total = abs(total // math.gcd(total, i) * i) if i != 0 else 0
    return total

def math_fsum(seq): return sum(seq, 0.0)
def math_hypot(*coordinates): return math.sqrt(sum([c * c for c in coordinates]))
def math_dist(p, q): return math_hypot(*[a - b for a, b in zip(p, q)])
def math_isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if a == b or math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def operator_add(a, b): return a + b
def operator_sub(a, b): return a - b
def operator_mul(a, b): return a * b
def operator_truediv(a, b): return a / b
def operator_floordiv(a, b): return a // b
def operator_itemgetter(item, *items):
    return lambda obj: obj[item] if not items else tuple([obj[i] for i in (item, *items)])

def ignored(*values, **options): pass

class Logger:
    def __init__(self, name=None):
        self.name, self.handlers, self.propagate = name, [], True

    def isEnabledFor(self, level): return False
    def setLevel(self, level): pass
    def addHandler(self, handler): pass
    def log(self, *message, **options): pass
    def debug(self, *message, **options): pass
    def info(self, *message, **options): pass
    def warning(self, *message, **options): pass
    def warning_once(self, *message, **options): pass
    def warn(self, *message, **options): pass
    def error(self, *message, **options): pass
    def exception(self, *message, **options): pass
    def critical(self, *message, **options): pass

def getLogger(name=None): return Logger(name)
def cuda_autocast(enabled=True, dtype=None, cache_enabled=True):
    return torch.autocast("cuda", dtype, enabled, cache_enabled)

def expit(input): return torch.sigmoid(input)

def set_update(self, *others):
    for other in others:
        for item in other:
            self.add(item)

def set_union(self, *others):
    result = self.copy()
    set_update(result, *others)
    return result

def set_intersection(self, *others):
    result = self.copy()
    for other in others:
        result &= set(other)
    return result

def set_difference(self, *others):
    result = self.copy()
    for other in others:
        result -= set(other)
    return result

def set_symmetric_difference(self, other): return self ^ set(other)
def set_issubset(self, other): return self <= set(other)
def set_issuperset(self, other): return self >= set(other)
def set_isdisjoint(self, other): return not self & set(other)

def pow(base, exp, mod=None): return base ** exp if mod is None else base ** exp % mod

class SimpleNamespace:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

class field:
    def __init__(self, *, default=None, default_factory=None, **others):
        self.default, self.default_factory = default, default_factory

def _single(x): return (x,) if isinstance(x, (int, float, bool)) else tuple(x)
def _pair(x): return (x, x) if isinstance(x, (int, float, bool)) else tuple(x)
def _triple(x): return (x, x, x) if isinstance(x, (int, float, bool)) else tuple(x)


def array(object, dtype=None):
    return torch.tensor(object, dtype=dtype) if isinstance(object, (list, tuple)) else object

def asarray(a, dtype=None): return array(a, dtype)
def astype(input, dtype): return input.to(dtype)
def from_numpy(ndarray): return ndarray
def arange(start, stop=None, step=1, dtype=None):
    return torch.arange(start, dtype=dtype) if stop is None else torch.arange(start, stop, step, dtype=dtype)

def zeros(shape, dtype=float): return torch.zeros(shape, dtype=dtype)
def ones(shape, dtype=float): return torch.ones(shape, dtype=dtype)
def full(shape, fill_value, dtype=None): return torch.full(shape, fill_value, dtype=dtype)
def eye(N, M=None, dtype=float): return torch.eye(N, N if M is None else M, dtype=dtype)
def power(x1, x2): return x1 ** x2
def numpy_concatenate(arrays, axis=0): return torch.cat(arrays, axis)
def numpy_einsum(subscripts, *operands): return torch.einsum(subscripts, *operands)
def numpy_linspace(start, stop, num=50): return torch.linspace(start, stop, num)
def numpy_meshgrid(*xi, indexing="xy"): return torch.meshgrid(*xi, indexing=indexing)
def numpy_outer(a, b): return torch.outer(a, b)
def numpy_stack(arrays, axis=0): return torch.stack(arrays, axis)
def numpy_cos(x): return torch.cos(x) if torch.is_tensor(x) else math.cos(x)
def numpy_exp(x): return torch.exp(x) if torch.is_tensor(x) else math.exp(x)
def numpy_log(x): return torch.log(x) if torch.is_tensor(x) else math.log(x)
def numpy_sin(x): return torch.sin(x) if torch.is_tensor(x) else math.sin(x)
def numpy_sqrt(x): return torch.sqrt(x) if torch.is_tensor(x) else math.sqrt(x)


class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern, self.axes_lengths = pattern, axes_lengths

    def forward(self, input):
        return einops.rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern, self.reduction, self.axes_lengths = pattern, reduction, axes_lengths

    def forward(self, input):
        return einops.reduce(input, self.pattern, self.reduction, **self.axes_lengths)


def einops_einsum(*tensors_and_pattern):
    *tensors, pattern = tensors_and_pattern
    names = []
    for name in pattern.replace("->", " ").replace(",", " ").split():
        if name != "..." and name not in names:
            names.append(name)
    assert len(names) <= 26, "at most 26 axes"
    letters = dict(zip(names, "abcdefghijklmnopqrstuvwxyz"))
    def lettered(side):
        return ",".join(["".join([letters.get(name, name) for name in part.split()]) for part in side.split(",")])
    return torch.einsum("->".join([lettered(side) for side in pattern.split("->")]), *tensors)


def norm_except(weight, dim):
    if dim is None or dim == -1:
        return torch.linalg.vector_norm(weight)
    others = [d for d in range(weight.dim()) if d != dim]
    return torch.linalg.vector_norm(weight, dim=others, keepdim=True)

def scale_of(weight, dim):
    shape = [] if dim is None or dim == -1 else [n if d == dim else 1 for d, n in enumerate(weight.shape)]
    return nn.Parameter(torch.empty(shape).uniform_(0.5, 1.5))

def check_normed(module):
    assert not isinstance(module, (nn.LSTM, nn.GRU, nn.RNN)), "a module other than LSTM, GRU and RNN"

# The weight is computed before each call. What is done to it before the first one has no effect, as in PyTorch.
def weight_norm(module, name="weight", dim=0):
    check_normed(module)
    given = getattr(module, name)
    setattr(module, name + "_g", scale_of(given, dim))
    setattr(module, name + "_v", copy.deepcopy(given))
    def compute(module, inputs):
        direction = getattr(module, name + "_v")
        setattr(module, name, getattr(module, name + "_g") * (direction / norm_except(direction, dim)))
    module.register_forward_pre_hook(compute)
    return module

class Parametrization(nn.Module): pass

def parametrization_of(module, name):
    if not hasattr(module, "parametrizations"):
        module.parametrizations = Parametrization()
    setattr(module.parametrizations, name, Parametrization())
    return getattr(module.parametrizations, name)

def parametrized_weight_norm(module, name="weight", dim=0):
    check_normed(module)
    given = getattr(module, name)
    parts = parametrization_of(module, name)
    parts.original0, parts.original1 = scale_of(given, dim), copy.deepcopy(given)
    def compute(module, inputs):
        parts = getattr(module.parametrizations, name)
        setattr(module, name, parts.original0 * (parts.original1 / norm_except(parts.original1, dim)))
    module.register_forward_pre_hook(compute)
    return module


def spectral_rows(weight, dim):
    weight = weight if dim == 0 else weight.transpose(0, dim)
    return weight.reshape(weight.shape[0], -1)

def spectral_dim(module, dim):
    transposed = isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d))
    return (1 if transposed else 0) if dim is None else dim

def direction_of(length): return nn.Parameter(torch.empty(length).normal_(0, 1 / math.sqrt(length)))

# As in evaluation mode: u and v are what they were after the last step of training.
def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    check_normed(module)
    dim = spectral_dim(module, dim)
    given = getattr(module, name)
    rows = spectral_rows(torch.empty(given.shape), dim).shape
    setattr(module, name + "_orig", copy.deepcopy(given))
    setattr(module, name + "_u", direction_of(rows[0]))
    setattr(module, name + "_v", direction_of(rows[1]))
    def compute(module, inputs):
        weight, u, v = [getattr(module, name + part) for part in ("_orig", "_u", "_v")]
        setattr(module, name, weight / torch.dot(u, torch.mv(spectral_rows(weight, dim), v)))
    module.register_forward_pre_hook(compute)
    return module

def parametrized_spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    check_normed(module)
    dim = spectral_dim(module, dim)
    given = getattr(module, name)
    rows = spectral_rows(torch.empty(given.shape), dim).shape
    parts = parametrization_of(module, name)
    parts.original = copy.deepcopy(given)
    vectors = Parametrization()
    setattr(parts, "0", vectors)
    vectors._u, vectors._v = direction_of(rows[0]), direction_of(rows[1])
    def compute(module, inputs):
        parts = getattr(module.parametrizations, name)
        u, v = getattr(parts, "0")._u, getattr(parts, "0")._v
        setattr(module, name, parts.original / torch.dot(u, torch.mv(spectral_rows(parts.original, dim), v)))
    module.register_forward_pre_hook(compute)
    return module


def eye_(tensor):
    tensor.copy_(torch.eye(*tensor.shape))
    return tensor

def dirac_(tensor, groups=1):
    out_channels, in_channels, *kernel = tensor.shape
    assert out_channels % groups == 0, "groups of equal size"
    eye = torch.cat([torch.eye(out_channels // groups, in_channels)] * groups)
    borders = sum([[n // 2, n - 1 - n // 2] for n in reversed(kernel)], [])
    tensor.copy_(F.pad(eye.reshape([out_channels, in_channels] + [1] * len(kernel)), borders))
    return tensor

)python";
}

}  // namespace deplo::ir::torch::python
