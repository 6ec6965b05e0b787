// Complex numbers, written in the language itself: both parts are real tensors. A number such as 2j has parts that are
// floats.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_complex_text() {
  return R"python(
# The type of complex numbers: torch.complex64, and all its other names.
class complex64:
    is_complex, is_floating_point, is_signed, itemsize = True, False, True, 8

# Functions f with f(x + iy) = f(x) + i f(y).
of_each_part = {
    "avg_pool1d", "avg_pool2d", "broadcast_to", "chunk", "contiguous", "cpu", "cuda", "cumsum", "detach", "diag",
    "diag_embed", "diagonal", "diff", "dropout", "embedding", "expand", "flatten", "flip", "fliplr",
    "flipud", "gather", "index_select", "interpolate", "item", "mean", "moveaxis", "movedim", "nan_to_num", "narrow",
    "permute", "ravel", "rearrange", "repeat", "repeat_interleave", "reshape", "roll", "rot90",
    "select", "split", "squeeze", "sum", "swapaxes", "t", "take", "take_along_dim", "tile", "trace", "transpose",
    "tril", "triu", "unbind", "unflatten", "unfold", "unsqueeze"}
# Functions that are linear in each operand.
of_products = {"bmm", "cross", "dot", "einsum", "kron", "matmul", "mm", "mv", "outer"}
# Functions that are linear in an input and a weight, and add a bias.
of_weights = {"conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "linear"}
# Functions of the absolute values.
of_sizes = {"matrix_norm", "norm", "vector_norm"}
# Functions that ask for no elements.
of_shape = {"dim", "numel", "size", "stride"}
# Functions with an argument `dtype`, which may be complex64.
of_types = {
    "arange", "as_tensor", "cumsum", "empty", "empty_like", "eye", "full", "full_like", "linspace", "mean", "ones",
    "ones_like", "rand", "rand_like", "randn", "randn_like", "sum", "tensor", "to", "zeros", "zeros_like"}
# Those that the class Complex defines for real arguments, too.
of_own_types = {"as_tensor", "rand", "rand_like", "randn", "randn_like", "to"}

class Complex:
    dtype, device, layout, grad = complex64, "cpu", torch.strided, None
    is_cuda, requires_grad, is_leaf, is_sparse = False, False, True, False

    # Takes both parts, or a real tensor whose last dimension has them. This tensor is in a tuple, because an attribute
    # would give a random tensor its name.
    def __init__(self, real=None, imag=None, joined=None): self.held, self.joined = (real, imag), (joined,)

    def part(self, i): return self.held[i] if self.joined[0] is None else self.joined[0].select(-1, i)

    @property
    def real(self): return self.part(0)
    @property
    def imag(self): return self.part(1)
    @property
    def data(self): return self
    @property
    def shape(self): return self.real.shape
    @property
    def ndim(self): return self.real.dim()
    @property
    def T(self): return Complex(self.real.T, self.imag.T)
    @property
    def mT(self): return Complex(self.real.mT, self.imag.mT)
    @property
    def mH(self): return self.mT.conj()
    @property
    def H(self): return self.mT.conj()

    # The parts as the last dimension of a real tensor.
    def as_real(self):
        return torch.stack([self.real, self.imag], -1) if self.joined[0] is None else self.joined[0]

    def __len__(self): return len(self.real)
    def __getitem__(self, index): return Complex(self.real[index], self.imag[index])
    def __setitem__(self, index, value):
        value = as_complex(value)
        self.real[index], self.imag[index] = value.real, value.imag

    def copy_(input, src, non_blocking=False):
        assert isinstance(input, Complex), "a complex tensor to put complex numbers into"
        src = as_complex(src)
        for part, value in ((input.real, src.real), (input.imag, src.imag)):
            part.copy_(value) if torch.is_tensor(value) else part.fill_(value)
        return input

    def fill_(input, value): return input.copy_(value)
    def zero_(input): return input.copy_(0.0)
    def __iadd__(self, other): return self.copy_(self + other)
    def __isub__(self, other): return self.copy_(self - other)
    def __imul__(self, other): return self.copy_(self * other)
    def __itruediv__(self, other): return self.copy_(self / other)

    def __pos__(self): return self
    def __neg__(self): return self * -1
    def __abs__(self):
        square = self.real * self.real + self.imag * self.imag
        return torch.sqrt(square) if torch.is_tensor(square) else math.sqrt(square)

    def __eq__(self, other):
        other = as_complex(other)
        return (self.real == other.real) & (self.imag == other.imag)
    def __ne__(self, other):
        other = as_complex(other)
        return (self.real != other.real) | (self.imag != other.imag)
    def __add__(self, other):
        if isinstance(other, Complex):
            return Complex(self.real + other.real, self.imag + other.imag)
        return complex_of(self.real + other, self.imag)
    def __radd__(self, other): return self + other
    def __sub__(self, other): return self + other * -1
    def __rsub__(self, other): return self * -1 + other
    def __mul__(self, other):
        if isinstance(other, Complex):
            real = self.real * other.real - self.imag * other.imag
            return Complex(real, self.real * other.imag + self.imag * other.real)
        if self.joined[0] is not None and not torch.is_tensor(other):
            return Complex(joined=self.joined[0] * other)
        return Complex(self.real * other, self.imag * other)
    def __rmul__(self, other): return self * other
    def __truediv__(self, other):
        if isinstance(other, Complex):
            return self * other.reciprocal()
        if self.joined[0] is not None and not torch.is_tensor(other):
            return Complex(joined=self.joined[0] / other)
        return Complex(self.real / other, self.imag / other)
    def __rtruediv__(self, other): return self.reciprocal() * other
    def __pow__(self, other):
        if isinstance(other, (int, float)) and other == round(other):
            return whole_power(self, int(other))
        return (self.log() * other).exp()
    def __rpow__(self, other): return as_complex(other) ** self
    def __matmul__(self, other): return torch.matmul(self, other)
    def __rmatmul__(self, other): return torch.matmul(other, self)

    def add(input, other, *, alpha=1): return input + other * alpha
    def sub(input, other, *, alpha=1): return input - other * alpha
    def subtract(input, other, *, alpha=1): return input - other * alpha
    def mul(input, other): return input * other
    def multiply(input, other): return input * other
    def div(input, other): return input / other
    def divide(input, other): return input / other
    def true_divide(input, other): return input / other
    def pow(input, exponent): return input ** exponent
    def eq(input, other): return input == other
    def ne(input, other): return input != other
    def neg(input): return -input
    def negative(input): return -input
    def abs(input): return input.__abs__()
    def absolute(input): return input.__abs__()
    def square(input): return input * input
    def angle(input): return functions_for(input).atan2(input.imag, input.real)
    def conj(input): return complex_of(input.real, -input.imag)
    def conj_physical(input): return input.conj()
    def conjugate(self): return self.conj()
    def resolve_conj(input): return input
    def resolve_neg(input): return input
    def expand_as(input, other): return input.expand(other.shape)
    def reshape_as(input, other): return input.reshape(other.shape)
    def view_as(input, other): return input.view(other.shape)

    # The division by the greater part keeps squares from overflow.
    def reciprocal(input):
        if not torch.is_tensor(input.real):
            size = input.real * input.real + input.imag * input.imag
            return Complex(input.real / size, -input.imag / size)
        size = torch.maximum(torch.abs(input.real), torch.abs(input.imag))
        real, imag = input.real / size, input.imag / size
        square = input.real * real + input.imag * imag
        return Complex(real / square, -imag / square)
    def sgn(input):
        size = input.abs()
        return input / torch.where(size == 0, 1.0, size)

    def exp(input):
        of = functions_for(input)
        size = of.exp(input.real)
        return Complex(size * of.cos(input.imag), size * of.sin(input.imag))
    def log(input): return Complex(functions_for(input).log(input.abs()), input.angle())
    def sqrt(input): return polar(torch.sqrt(input.abs()), input.angle() / 2)
    def rsqrt(input): return input.sqrt().reciprocal()
    def sin(input):
        x, y = input.real, input.imag
        return Complex(torch.sin(x) * torch.cosh(y), torch.cos(x) * torch.sinh(y))
    def cos(input):
        x, y = input.real, input.imag
        return Complex(torch.cos(x) * torch.cosh(y), -torch.sin(x) * torch.sinh(y))
    def sinh(input):
        x, y = input.real, input.imag
        return Complex(torch.sinh(x) * torch.cos(y), torch.cosh(x) * torch.sin(y))
    def cosh(input):
        x, y = input.real, input.imag
        return Complex(torch.cosh(x) * torch.cos(y), torch.sinh(x) * torch.sin(y))
    def tanh(input):
        x, y = torch.tanh(input.real), torch.tan(input.imag)
        size = 1 + x * x * y * y
        return Complex(x * (1 + y * y) / size, y * (1 - x * x) / size)
    def tan(input):  # -i tanh(i input)
        result = Complex(-input.imag, input.real).tanh()
        return Complex(result.imag, -result.real)
    def sigmoid(input): return 1 / (1 + (-input).exp())

    def isfinite(input): return torch.isfinite(input.real) & torch.isfinite(input.imag)
    def isinf(input): return torch.isinf(input.real) | torch.isinf(input.imag)
    def isnan(input): return torch.isnan(input.real) | torch.isnan(input.imag)
    def is_tensor(object): return True

    def cat(tensors, dim=0): return on_lists(torch.cat, tensors, dim)
    def concat(tensors, dim=0): return on_lists(torch.cat, tensors, dim)
    def stack(tensors, dim=0): return on_lists(torch.stack, tensors, dim)
    def hstack(tensors): return on_lists(torch.hstack, tensors)
    def vstack(tensors): return on_lists(torch.vstack, tensors)
    def dstack(tensors): return on_lists(torch.dstack, tensors)
    def broadcast_tensors(*tensors):
        reals, imags = [torch.broadcast_tensors(*parts) for parts in both_parts(tensors)]
        return tuple(Complex(x, y) for x, y in zip(reals, imags))
    def where(condition, input, other):
        reals, imags = both_parts((input, other))
        return Complex(torch.where(condition, *reals), torch.where(condition, *imags))
    def masked_fill(input, mask, value): return Complex.where(mask, value, input)
    def index_add(input, dim, index, source, *, alpha=1):
        reals, imags = both_parts((input, source))
        return Complex(*[x.index_add(dim, index, y, alpha=alpha) for x, y in (reals, imags)])
    def scatter_add(input, dim, index, src):
        reals, imags = both_parts((input, src))
        return Complex(*[x.scatter_add(dim, index, y) for x, y in (reals, imags)])
    def pad(input, pad, mode="constant", value=None):
        value = as_complex(0.0 if value is None else value)
        return Complex(F.pad(input.real, pad, mode, value.real), F.pad(input.imag, pad, mode, value.imag))
    def vecdot(x, y, *, dim=-1): return (conj(x) * y).sum(dim)
    def scatter(input, dim, index, src): return with_source("scatter", input, src, dim, index)
    def index_copy(input, dim, index, source): return with_source("index_copy", input, source, dim, index)
    def index_fill(input, dim, index, value): return with_source("index_fill", input, value, dim, index)
    def masked_scatter(input, mask, source): return with_source("masked_scatter", input, source, mask)
    def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
        result = as_complex(input).clone()
        result[index_of(input, dim, start, end, step)] = src
        return result
    def select_scatter(input, src, dim, index):
        result = as_complex(input).clone()
        result[(slice(None),) * (dim % input.ndim) + (index,)] = src
        return result
    def meshgrid(*tensors, indexing="ij"):
        tensors = tensors[0] if isinstance(tensors[0], (tuple, list)) else tensors
        reals, imags = [torch.meshgrid(*parts, indexing=indexing) for parts in both_parts(tensors)]
        return tuple(Complex(x, y) for x, y in zip(reals, imags))
    def clone(input, **options): return Complex(joined=input.as_real().clone())
    def addcmul(input, tensor1, tensor2, *, value=1): return input + tensor1 * tensor2 * value
    def addcdiv(input, tensor1, tensor2, *, value=1): return input + tensor1 / tensor2 * value
    def lerp(input, end, weight): return input + (end - input) * weight
    def normalize(input, p=2.0, dim=1, eps=1e-12):
        return input / torch.clamp(torch.norm(input, p, dim, keepdim=True), min=eps)
    def l1_loss(input, target, *, reduction="mean"):
        size = (input - target).abs()
        return F.l1_loss(size, torch.zeros_like(size), reduction=reduction)
    def std(input, *options, **others): return torch.sqrt(Complex.var(input, *options, **others))
    def var(input, dim=None, unbiased=True, keepdim=False, *, correction=None):
        correction = int(unbiased) if correction is None else correction
        return sum([torch.var(x, dim, correction=correction, keepdim=keepdim) for x in (input.real, input.imag)])
    def prod(input, dim=None, keepdim=False, *, dtype=None):
        factors = (input.flatten() if dim is None else input).unbind(0 if dim is None else dim)
        result = factors[0]
        for factor in factors[1:]:
            result = result * factor
        return result.unsqueeze(dim) if keepdim and dim is not None else result

    def to(input, *options, **others):
        if any(isinstance(x, torch.dtype) for x in (*options, *others.values())):
            return input.real.to(*options, **others)
        return input if isinstance(input, Complex) else complex_of(as_float(input), 0.0)
    def type_as(input, other): return input.to(other.dtype)
    def float(input): return input.real.float()
    def double(input): return input.real.double()
    def view(input, *shape):
        if shape[0] is complex64:
            return input if isinstance(input, Complex) else view_as_complex(input.unflatten(-1, (-1, 2)))
        if isinstance(shape[0], torch.dtype):
            return input.as_real().flatten(-2)
        return Complex(input.real.view(*shape), input.imag.view(*shape))

    def tensor(data, *, dtype=None, device=None, requires_grad=False):
        if isinstance(data, (list, tuple)):
            return torch.stack([as_complex(torch.tensor(item)) for item in data])
        return Complex(torch.tensor(data.real), torch.tensor(data.imag))
    def as_tensor(data, *, dtype=None, device=None):
        if isinstance(data, Complex) and torch.is_tensor(data.real):
            return data
        return torch.tensor(data).to(complex64)
    def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
        return Complex(torch.full(size, fill_value.real), torch.full(size, fill_value.imag))
    def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False):
        value = as_complex(fill_value)
        return Complex(torch.full_like(real(input), value.real), torch.full_like(real(input), value.imag))
    def zeros_like(input, **options): return as_complex(torch.zeros_like(input.real))
    def empty_like(input, **options): return as_complex(torch.zeros_like(input.real))
    def ones_like(input, **options): return as_complex(torch.ones_like(input.real))
    def new_zeros(input, *size, dtype=None, device=None): return as_complex(torch.zeros(*size))
    def new_full(input, size, fill_value, **options): return Complex.full(size, as_complex(fill_value))
    def new_ones(input, *size, dtype=None, device=None): return as_complex(torch.ones(*size))
    def randn(*size, dtype=None, device=None, requires_grad=False):
        return Complex(joined=torch.randn(*sizes_of(size), 2).normal_(0, 0.5 ** 0.5))
    def rand(*size, dtype=None, device=None, requires_grad=False): return Complex(joined=torch.rand(*sizes_of(size), 2))
    def randn_like(input, *, dtype=None, device=None): return Complex.randn(*input.shape)
    def rand_like(input, *, dtype=None, device=None): return Complex.rand(*input.shape)
    def Parameter(data, requires_grad=True): return Complex(joined=nn.Parameter(data.as_real()))

# Returns the result of a function of PyTorch that has complex arguments, or the argument complex64; NotImplemented if
# the function does not take them.
def of_complex(name, function, arguments, options):
    has_complex = holds_complex(arguments) or holds_complex(options.values())
    if options.get("dtype") is complex64:
        if name not in of_types:
            return NotImplemented
        options = {key: value for key, value in options.items() if key != "dtype"}
        if not has_complex and name not in of_own_types:
            return as_complex(function(*arguments, **options))
    elif name in of_types and isinstance(options.get("dtype"), torch.dtype):
        return function(*[real(x) for x in arguments], **options)
    if hasattr(Complex, name):
        return getattr(Complex, name)(*arguments, **options)
    if not has_complex:
        return NotImplemented
    if name in of_weights:
        return weighted(function, *arguments, **options)
    if name in of_products:
        return multilinear(function, arguments, options)
    if name in of_each_part:
        results = [with_parts(function, lambda x: x.part(i), arguments, options) for i in range(2)]
        return (Complex(*results) if torch.is_tensor(results[0]) or isinstance(results[0], float) else
                tuple(Complex(x, y) for x, y in zip(*results)))
    if name in of_sizes:
        return with_parts(function, lambda x: x.abs(), arguments, options)
    return with_parts(function, lambda x: x.real, arguments, options) if name in of_shape else NotImplemented

def with_parts(function, part, arguments, options):
    of = lambda x: part(x) if isinstance(x, Complex) else x
    return function(*[of(x) for x in arguments], **{key: of(value) for key, value in options.items()})

def holds_complex(x):
    return any(holds_complex(item) for item in x) if isinstance(x, (list, tuple)) else isinstance(x, Complex)

def whole_power(x, n):
    if n < 0:
        return whole_power(x, -n).reciprocal()
    if n < 2:
        return x if n == 1 else complex_of(x.real * 0 + 1.0, 0.0)
    half = whole_power(x, n // 2)
    return half * half * x if n % 2 else half * half

# Applies a function that is linear in each operand. f(x + iy, z) = f(x, z) + i f(y, z).
def multilinear(function, operands, options):
    operands = list(operands)
    if operands and isinstance(operands[-1], (list, tuple)):
        operands = operands[:-1] + list(operands[-1])
    for i, x in enumerate(operands):
        if isinstance(x, Complex):
            before, after = operands[:i], operands[i + 1:]
            return sum_of_parts(*[multilinear(function, before + [part] + after, options) for part in (x.real, x.imag)])
    for key, x in options.items():
        if isinstance(x, Complex):
            return sum_of_parts(*[multilinear(function, operands, {**options, key: y}) for y in (x.real, x.imag)])
    return function(*operands, **options)

# Applies a function of of_weights. The bias has an element for each channel; the dimensions of windows come after it.
def weighted(function, input, weight, bias=None, *options, **others):
    product = multilinear(lambda x, y: function(x, y, None, *options, **others), (input, weight), {})
    return product if bias is None else product + bias.reshape([-1] + [1] * (weight.ndim - 2))

# Applies a function that puts a source, which may be a number, into parts of the input.
def with_source(name, input, source, *place):
    reals, imags = both_parts((input, source))
    return Complex(*[getattr(x, name)(*place, y) for x, y in (reals, imags)])

# Returns real + i imag, of which both may be complex.
def sum_of_parts(real, imag):
    if isinstance(real, Complex):
        return Complex(real.real - imag.imag, real.imag + imag.real)
    return Complex(real, imag)

# Both parts of several numbers, of which some are real.
def both_parts(items):
    items = [as_complex(item) for item in items]
    return [item.real for item in items], [item.imag for item in items]

def on_lists(function, tensors, *options): return Complex(*[function(parts, *options) for parts in both_parts(tensors)])

def as_complex(x):
    if isinstance(x, Complex):
        return x
    if not torch.is_tensor(x):
        return Complex(x * 1.0, 0.0)
    return Complex(as_float(x), torch.zeros_like(as_float(x)))

def as_float(x): return x if x.is_floating_point() else x.to(torch.get_default_dtype())

# New complex numbers of two real tensors or numbers.
def complex_of(real, imag):
    if not torch.is_tensor(real) and not torch.is_tensor(imag):
        return Complex(real, imag)
    real = real if torch.is_tensor(real) else torch.full_like(imag, real)
    imag = imag if torch.is_tensor(imag) else torch.full_like(real, imag)
    return Complex(joined=torch.stack(torch.broadcast_tensors(real, imag), -1))

# The module with the functions of a number's parts, which may be floats.
def functions_for(x): return torch if torch.is_tensor(x.real) else math

def sizes_of(shape): return tuple(shape[0]) if isinstance(shape[0], (tuple, list)) else tuple(shape)
def complex(real, imag=0.0): return complex_of(real, imag)
def polar(abs, angle): return Complex(abs * torch.cos(angle), abs * torch.sin(angle))
def real(input): return input.real if isinstance(input, Complex) else input
def imag(input): return input.imag
def conj(input): return input.conj() if isinstance(input, Complex) else input
def angle(input):
    if isinstance(input, Complex):
        return input.angle()
    return torch.where(input != input, input, torch.where(input < 0, math.pi, 0.0))

def imaginary(x): return Complex(0.0, x)
def cfloat(input): return input.to(complex64)
def view_as_real(input): return input.as_real()
def view_as_complex(input):
    assert input.shape[-1] == 2, "a last dimension of the real and the imaginary part"
    return Complex(joined=input)
)python";
}

}  // namespace deplo::ir::torch::python
