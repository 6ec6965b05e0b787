// Functions of torch and methods of tensors that are combinations of others, written in the language itself.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_functions_text() {
  return R"python(
from collections import namedtuple

Extremes = namedtuple("Extremes", ["min", "max"])
ValuesAndIndices = namedtuple("ValuesAndIndices", ["values", "indices"])


class finfo:
    def __init__(self, dtype=None):
        limits = {torch.float32: (3.4028234663852886e38, 1.1920928955078125e-07, 1.1754943508222875e-38, 32),
                  torch.float16: (65504.0, 0.0009765625, 6.103515625e-05, 16),
                  torch.bfloat16: (3.3895313892515355e38, 0.0078125, 1.1754943508222875e-38, 16)}
        dtype = torch.get_default_dtype() if dtype is None else dtype
        assert dtype in limits, "a type of floats"
        self.max, self.eps, self.tiny, self.bits = limits[dtype]
        self.min, self.smallest_normal = -self.max, self.tiny


class iinfo:
    def __init__(self, dtype):
        limits = {torch.int32: (2147483647, 32), torch.int64: (9223372036854775807, 64), torch.int16: (32767, 16),
                  torch.int8: (127, 8), torch.uint8: (255, 8)}
        assert dtype in limits, "a type of integers"
        self.max, self.bits = limits[dtype]
        self.min = 0 if dtype == torch.uint8 else -self.max - 1


def is_floating_point(input): return input.dtype in (torch.float32, torch.float16, torch.bfloat16)
def is_complex(input): return isinstance(input, Complex)
def requires_grad_(input, requires_grad=True): return input
def pin_memory(input): return input
def positive(input): return input
def element_size(input): return input.dtype.itemsize
def nelement(input): return input.numel()
def ndimension(input): return input.dim()
def new_tensor(input, data, dtype=None, device=None, requires_grad=False):
    return torch.tensor(data, dtype=input.dtype if dtype is None else dtype)


def type(input, dtype, non_blocking=False):
    if isinstance(dtype, str):
        assert dtype.startswith("torch.") and hasattr(torch, dtype[6:]), "a type such as 'torch.HalfTensor'"
        dtype = getattr(torch, dtype[6:])
    types = {torch.FloatTensor: torch.float32, torch.HalfTensor: torch.float16, torch.BFloat16Tensor: torch.bfloat16,
             torch.LongTensor: torch.int64, torch.IntTensor: torch.int32, torch.ShortTensor: torch.int16,
             torch.CharTensor: torch.int8, torch.ByteTensor: torch.uint8, torch.BoolTensor: torch.bool}
    return input.to(types.get(dtype, dtype))

def dropout1d(input, p=0.5, training=True, inplace=False): return input
def dropout2d(input, p=0.5, training=True, inplace=False): return input
def dropout3d(input, p=0.5, training=True, inplace=False): return input
def alpha_dropout(input, p=0.5, training=False, inplace=False): return input
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False): return input


def greater(input, other): return input > other
def greater_equal(input, other): return input >= other
def less(input, other): return input < other
def less_equal(input, other): return input <= other
def not_equal(input, other): return input != other
def rsub(input, other, alpha=1): return other - (input if alpha == 1 else alpha * input)


def scaled_sum(input, product, beta, alpha):
    product = product if alpha == 1 else alpha * product
    return product if beta == 0 else (input if beta == 1 else beta * input) + product

def addmm(input, mat1, mat2, *, beta=1, alpha=1): return scaled_sum(input, mat1 @ mat2, beta, alpha)
def addmv(input, mat, vec, *, beta=1, alpha=1): return scaled_sum(input, mat @ vec, beta, alpha)
def addr(input, vec1, vec2, *, beta=1, alpha=1): return scaled_sum(input, torch.outer(vec1, vec2), beta, alpha)
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1): return scaled_sum(input, batch1 @ batch2, beta, alpha)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    return scaled_sum(input, (batch1 @ batch2).sum(0), beta, alpha)

def spmm(input, mat2): return input @ mat2
def _int_mm(input, mat2): return input.to(torch.int32) @ mat2.to(torch.int32)
def _weight_int8pack_mm(input, mat2, scales): return input @ mat2.to(input.dtype).T * scales
def ger(input, vec2): return torch.outer(input, vec2)
def vdot(input, other): return torch.dot(conj(input), other)
def inner(input, other):
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    products = input.reshape(-1, input.shape[-1]) @ other.reshape(-1, other.shape[-1]).T
    return products.reshape(*input.shape[:-1], *other.shape[:-1])

def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        dims = [list(range(a.dim() - dims, a.dim())), list(range(dims))]
    left = [d % a.dim() for d in dims[0]]
    right = [d % b.dim() for d in dims[1]]
    free_a = [d for d in range(a.dim()) if d not in left]
    free_b = [d for d in range(b.dim()) if d not in right]
    summed = math.prod([a.shape[d] for d in left])
    product = a.permute(*free_a, *left).reshape(-1, summed) @ b.permute(*right, *free_b).reshape(summed, -1)
    return product.reshape([a.shape[d] for d in free_a] + [b.shape[d] for d in free_b])

def tensordot_of_dims(input, other, dims_self, dims_other): return tensordot(input, other, [dims_self, dims_other])

def multi_dot(tensors):
    product = tensors[0]
    for factor in tensors[1:]:
        product = product @ factor
    return product

def chain_matmul(*matrices): return multi_dot(matrices)

def matrix_power(input, n):
    assert n >= 0, "an n of at least 0"
    product = torch.eye(input.shape[-1], dtype=input.dtype).expand(input.shape)
    for _ in range(n):
        product = product @ input
    return product

# Laplace's expansion. The elements of a matrix are tensors.
def determinant(rows):
    if len(rows) == 1:
        return rows[0][0]
    total = 0.0
    for column, factor in enumerate(rows[0]):
        term = factor * determinant([row[:column] + row[column + 1:] for row in rows[1:]])
        total = term if column == 0 else total - term if column % 2 == 1 else total + term
    return total

def entries(input):
    rows, columns = input.shape[-2:]
    assert rows == columns and rows <= 4, "square matrices of at most 4 rows"
    return [[input[..., i, j] for j in range(columns)] for i in range(rows)]

def det(input): return determinant(entries(input))
def inv(input):
    rows = entries(input)
    if len(rows) == 1:
        return 1 / input
    def cofactor(i, j):
        minor = determinant([row[:j] + row[j + 1:] for row in rows[:i] + rows[i + 1:]])
        return minor if (i + j) % 2 == 0 else -minor
    cofactors = [[cofactor(i, j) for j in range(len(rows))] for i in range(len(rows))]
    total = sum([a * c for a, c in zip(rows[0][1:], cofactors[0][1:])], rows[0][0] * cofactors[0][0])
    return torch.stack([torch.stack(column, -1) for column in cofactors], -1) / total[..., None, None]

def inverse(input): return inv(input)
def solve(A, B, *, left=True):
    assert left, "left=True"
    if B.dim() == 1 or B.shape == A.shape[:-1]:
        return (inv(A) @ B.unsqueeze(-1)).squeeze(-1)
    return inv(A) @ B

# A lower matrix is its diagonal times a matrix with ones on the diagonal. The latter is inverted block by block: if p
# and q are the inverses of two blocks on the diagonal, that of both blocks is [[p, 0], [-q @ joined @ p, q]].
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    assert A.shape[-2] == A.shape[-1] and B.dim() > 1, "square matrices A, and B of at least two dimensions"
    lower, n = A.mT if upper else A, A.shape[-1]
    divisors = lower.diagonal(0, -2, -1)
    unit = lower if unitriangular else lower / divisors.unsqueeze(-1)
    inverse, size = torch.eye(n), 1
    while size < n:
        block = torch.arange(n) // size
        row = block.unsqueeze(-1)
        joined = torch.where((row % 2 == 1) & (block == row - 1), unit, 0.0)
        inverse = inverse - (joined if size == 1 else inverse @ joined @ inverse)
        size = 2 * size
    if not unitriangular:
        inverse = inverse / divisors.unsqueeze(-2)
    if upper:
        inverse = inverse.mT
    return inverse @ B if left else B @ inverse

def float_power(input, exponent):
    return torch.pow(input.float() if isinstance(input, torch.Tensor) else float(input), exponent)

def deg2rad(input): return input * (math.pi / 180)
def rad2deg(input): return input * (180 / math.pi)
def sinc(input):
    angle = math.pi * torch.where(input == 0, 1.0, input)
    return torch.where(input == 0, 1.0, torch.sin(angle) / angle)

def signbit(input):
    if not is_floating_point(input):
        return input < 0
    return (input < 0) | ((input == 0) & (1 / input < 0))

def heaviside(input, values): return torch.where(input == 0, values, (input > 0).to(input.dtype))
def product_with_log(input, other, log):
    product = input * log
    return torch.where((input == 0) & (other == other), torch.zeros_like(product), product)

def xlogy(input, other): return product_with_log(input, other, torch.log(other))
def xlog1py(input, other): return product_with_log(input, other, torch.log1p(other))
def entr(input): return torch.where(input < 0, -math.inf, -xlogy(input, input))
def ndtr(input): return 0.5 * torch.erfc(input * -math.sqrt(0.5))


def power_series(x, coefficients):
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total

# Stirling's series for x + 8, and the recurrence lgamma(x) = lgamma(x + 1) - log(x).
def lgamma_of_positive(x):
    product = x
    for i in range(1, 8):
        product = product * (x + i)
    z, product = torch.where(x < 8, x + 8, x), torch.where(x < 8, product, 1.0)
    series = power_series(1 / (z * z), (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156))
    start = (z - 0.5) * (torch.log(z) - 1) + (0.5 * math.log(2 * math.pi) - 0.5)
    return start + series / z - torch.log(product)

# Below 0, the reflection formula lgamma(x) = log(π / sin(πx)) - lgamma(1 - x).
def lgamma(input):
    is_below = input < 0
    value = lgamma_of_positive(torch.where(is_below, 1 - input, input))
    reflected = math.log(math.pi) - torch.log(torch.sin(math.pi * (input - torch.floor(input)))) - value
    return torch.where(input == -math.inf, math.inf, torch.where(is_below, reflected, value))

def digamma(input):
    is_below = input < 0
    x = torch.where(is_below, 1 - input, input)
    steps = sum([1 / (x + i) for i in range(1, 8)], 1 / x)
    z = torch.where(x < 8, x + 8, x)
    square = 1 / (z * z)
    series = power_series(square, (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12))
    value = torch.log(z) - 0.5 / z - square * series - torch.where(x < 8, steps, 0.0)
    fraction = input - torch.floor(input)
    reflected = torch.where(fraction == 0, math.nan, value - math.pi / torch.tan(math.pi * fraction))
    return torch.where(is_below, reflected, value)

# The power series of the Bessel function below 15, and its asymptotic series from there on.
def i0e(input):
    x = input.abs()
    square, inverse = x * x / 4, 1 / torch.clamp(x, min=20)
    series, asymptotic = 1.0, 1.0
    for k in range(44, 0, -1):
        series = 1 + series * square * (1 / k ** 2)
    for k in range(18, 0, -1):
        asymptotic = 1 + asymptotic * inverse * ((2 * k - 1) ** 2 / (8 * k))
    return torch.where(x < 20, series * torch.exp(-x), asymptotic * torch.sqrt(inverse * (1 / (2 * math.pi))))

def i0(input): return torch.exp(input.abs()) * i0e(input)

def gammaln(input): return lgamma(input)
def psi(input): return digamma(input)

def ldexp(input, other):
    result, common = input * torch.pow(2.0, other), input * other
    return result.to(common.dtype) if is_floating_point(common) else result

# Euclid's algorithm with the remainders of the least size, in as many steps as the type's numbers can take.
def gcd(input, other):
    dtype = (input * other).dtype
    assert dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8), "tensors of integers"
    a, b = torch.abs(input.to(dtype)), torch.abs(other.to(dtype))
    for _ in range(7 * dtype.itemsize + 2):
        rest = torch.fmod(a, torch.maximum(b, torch.ones_like(b)))
        a, b = torch.where(b > 0, b, a), torch.minimum(rest, b - rest)
    return a

def lcm(input, other):
    divisor = gcd(input, other)
    return torch.abs(torch.div(input, torch.maximum(divisor, torch.ones_like(divisor)), rounding_mode="trunc") * other)

def logaddexp2(input, other):
    more = torch.log1p(torch.exp2(-(input - other).abs())) / math.log(2)
    return torch.where(input == other, input + 1, torch.maximum(input, other) + more)  # infinities, too

def fmax(input, other):
    return torch.where(input != input, other, torch.where(other != other, input, torch.maximum(input, other)))

def fmin(input, other):
    return torch.where(input != input, other, torch.where(other != other, input, torch.minimum(input, other)))

def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    apart = (input - other).abs()
    close = (input == other) | (torch.isfinite(apart) & (apart <= atol + (rtol * other).abs()))
    return close | ((input != input) & (other != other)) if equal_nan else close

def isneginf(input): return input == -math.inf
def isposinf(input): return input == math.inf
def isreal(input): return input.imag == 0 if is_complex(input) else input.to(torch.bool) | True
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    if isinstance(test_elements, torch.Tensor):
        several = elements.unsqueeze(-1) if isinstance(elements, torch.Tensor) else elements
        found = (several == test_elements.reshape(-1)).any(-1)
    else:
        found = elements == test_elements
    return ~found if invert else found


def aminmax(input, *, dim=None, keepdim=False):
    if dim is None:
        return Extremes(torch.amin(input), torch.amax(input))
    return Extremes(torch.amin(input, dim, keepdim), torch.amax(input, dim, keepdim))

def count_nonzero(input, dim=None):
    return (input != 0).sum() if dim is None else (input != 0).sum(dim)

def nansum(input, dim=None, keepdim=False, *, dtype=None):
    numbers = torch.where(input != input, 0.0, input) if is_floating_point(input) else input
    return numbers.sum(dtype=dtype) if dim is None else numbers.sum(dim, keepdim, dtype=dtype)

def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    is_number = input == input
    count = is_number.sum() if dim is None else is_number.sum(dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count

def dist(input, other, p=2): return torch.linalg.vector_norm(input - other, p)
def msort(input): return torch.sort(input, dim=0, stable=True)[0]
def kthvalue(input, k, dim=-1, keepdim=False):
    values, indices = torch.sort(input, dim=dim, stable=True)
    value, index = values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)
    if not keepdim:
        value, index = value.squeeze(dim), index.squeeze(dim)
    return ValuesAndIndices(value, index)

def mode(input, dim=-1, keepdim=False):
    x = input.movedim(dim, -1)
    counts = (x.unsqueeze(-1) == x.unsqueeze(-2)).sum(-1)
    is_most = counts == counts.amax(-1, True)
    value = torch.where(is_most, x, x.amax(-1, True)).amin(-1, True)
    index = torch.where(x == value, torch.arange(x.shape[-1]), 0).amax(-1, True)  # the last one
    value, index = value.movedim(-1, dim), index.movedim(-1, dim)
    return ValuesAndIndices(value, index) if keepdim else ValuesAndIndices(value.squeeze(dim), index.squeeze(dim))

def nanmedian(input, dim=None, keepdim=False):
    if dim is None:
        return nanmedian(input.reshape(-1), 0).values
    values, indices = torch.sort(input, dim=dim, stable=True)  # NaN is the greatest value
    middle = ((input == input).sum(dim, True) - 1).clamp(min=0) // 2
    value, index = values.gather(dim, middle), indices.gather(dim, middle)
    return ValuesAndIndices(value, index) if keepdim else ValuesAndIndices(value.squeeze(dim), index.squeeze(dim))

def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    if isinstance(q, torch.Tensor):
        q = q.tolist()
    if isinstance(q, list):
        return torch.stack([quantile(input, one, dim, keepdim, interpolation=interpolation) for one in q])
    assert isinstance(q, (int, float)) and 0 <= q <= 1, "a number from 0 to 1 as q"
    if dim is None:
        assert not keepdim, "a dim with keepdim"
        input, dim = input.reshape(-1), 0
    ordered = torch.sort(input, dim=dim)[0]
    place = q * (input.shape[dim] - 1)
    first = math.floor(place)
    last = min(first + 1, input.shape[dim] - 1)
    low, high = ordered.narrow(dim, first, 1), ordered.narrow(dim, last, 1)
    parts = {"linear": place - first, "lower": 0.0, "higher": math.ceil(place) - first,
             "midpoint": 0.5 * (place > first), "nearest": round(place) - first}
    assert interpolation in parts, "'linear', 'lower', 'higher', 'midpoint' or 'nearest' as the interpolation"
    part = parts[interpolation]
    value = low if part == 0 else high if part == 1 else low + (high - low) * part
    value = value + torch.where(input != input, input, 0.0).sum(dim, True)  # NaN if one is there
    return value if keepdim else value.squeeze(dim)

def trapezoid_areas(y, x, dx, dim):
    length = y.shape[dim]
    heights = (y.narrow(dim, 0, length - 1) + y.narrow(dim, 1, length - 1)) / 2
    if x is None:
        return heights * dx
    if x.dim() == 1:
        x = x.reshape([-1 if d == dim % y.dim() else 1 for d in range(y.dim())])
    return heights * (x.narrow(dim, 1, length - 1) - x.narrow(dim, 0, length - 1))

def trapezoid(y, x=None, *, dx=1, dim=-1): return trapezoid_areas(y, x, dx, dim).sum(dim)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1): return torch.cumsum(trapezoid_areas(y, x, dx, dim), dim)

def trapz(y, x=None, *, dx=1, dim=-1): return trapezoid(y, x, dx=dx, dim=dim)
def cov(input, *, correction=1):
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    apart = rows - rows.mean(1, True)
    result = apart @ conj(apart).T / (rows.shape[1] - correction)
    return result.reshape(()) if input.dim() < 2 else result

def corrcoef(input):
    covariance = cov(input)
    if input.dim() < 2:
        return covariance / covariance
    deviation = torch.sqrt(torch.diagonal(covariance))
    return (covariance / deviation[:, None] / deviation[None, :]).clamp(-1, 1)


def adjoint(input): return conj(input.transpose(-2, -1))
def swapdims(input, dim0, dim1): return input.transpose(dim0, dim1)
def concatenate(tensors, dim=0): return torch.cat(tensors, dim)
def row_stack(tensors): return torch.vstack(tensors)
def column_stack(tensors): return torch.cat([t.reshape(-1, 1) if t.dim() < 2 else t for t in tensors], 1)
def atleast_1d(input): return input.reshape(1) if input.dim() == 0 else input
def atleast_2d(input): return input if input.dim() > 1 else input.reshape(1, -1)
def atleast_3d(input):
    return input if input.dim() > 2 else input.unsqueeze(-1) if input.dim() == 2 else input.reshape(1, -1, 1)

def increasing(count, r, step):
    rows = [[]]
    for _ in range(r):
        rows = [row + [i] for row in rows for i in range(row[-1] + step if row else 0, count)]
    return rows

def combinations(input, r=2, with_replacement=False):
    rows = increasing(input.shape[0], r, 0 if with_replacement else 1)
    assert r > 0 and rows, f"an r from 1 to {input.shape[0]}"
    return torch.stack([input[[row[k] for row in rows]] for k in range(r)], 1)

def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    return torch.stack([t.reshape(-1) for t in torch.meshgrid(*tensors, indexing="ij")], -1)

def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    planes = input.movedim((dim1, dim2), (-2, -1))
    assert src.shape == planes.diagonal(offset, -2, -1).shape, "a src of the shape of the diagonal"
    rows, columns = planes.shape[-2:]
    before = max(0, -offset)
    of_rows = F.pad(src.to(input.dtype), (before, rows - before - src.shape[-1]))[..., None]
    is_on = torch.arange(columns) - torch.arange(rows)[:, None] == offset
    return torch.where(is_on, of_rows, planes).movedim((-2, -1), (dim1, dim2))

def with_diagonal(input, fill_value, wrap=False):
    rows = input.shape[0]
    assert not wrap or rows <= input.shape[-1], "wrap=False for a matrix with more rows than columns"
    place, is_on = torch.arange(rows), True
    for d in range(1, input.dim()):
        column = torch.arange(input.shape[d]).reshape([-1 if i == d else 1 for i in range(input.dim())])
        is_on = is_on & (column == place.reshape([-1] + [1] * (input.dim() - 1)))
    return torch.where(is_on, fill_value, input)

def fill_diagonal_(input, fill_value, wrap=False):
    input.copy_(with_diagonal(input, fill_value, wrap))
    return input

def diagflat(input, offset=0): return torch.diag(input.reshape(-1), offset)
def block_diag(*tensors):
    blocks = [atleast_2d(t) for t in tensors]
    width, before, rows = sum([b.shape[1] for b in blocks]), 0, []
    for b in blocks:
        rows.append(F.pad(b, (before, width - before - b.shape[1])))
        before += b.shape[1]
    return torch.cat(rows)

def split_with_sizes(input, split_sizes, dim=0): return torch.split(input, split_sizes, dim)
def tensor_split(input, indices_or_sections, dim=0):
    length = input.shape[dim]
    if isinstance(indices_or_sections, int):
        each, more = length // indices_or_sections, length % indices_or_sections
        sizes = [each + 1] * more + [each] * (indices_or_sections - more)
    else:
        ends = [min(i if i >= 0 else max(i + length, 0), length) for i in indices_or_sections] + [length]
        starts = [0] + ends[:-1]
        sizes = [max(end - start, 0) for start, end in zip(starts, ends)]
        return tuple(input.narrow(dim, start, size) for start, size in zip(starts, sizes))
    return torch.split(input, sizes, dim)

def hsplit(input, indices_or_sections): return tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)
def vsplit(input, indices_or_sections): return tensor_split(input, indices_or_sections, 0)
def dsplit(input, indices_or_sections): return tensor_split(input, indices_or_sections, 2)

# The rows and columns of places: row r has the columns from first[r] on, count[r] of them, `total` in all.
def indices_in_rows(first, count, total):
    if total == 0:
        return torch.zeros(2, 0, dtype=torch.int64)
    ends, places = count.cumsum(0), torch.arange(total)
    row = (places[:, None] >= ends).sum(1)
    return torch.stack([row, places + (first - ends + count)[row]])

def tril_indices(row, col, offset=0, *, dtype=None, device=None):
    count = (torch.arange(row) + (offset + 1)).clamp(0, col)
    return indices_in_rows(torch.zeros_like(count), count, sum(min(max(i + offset + 1, 0), col) for i in range(row)))

def triu_indices(row, col, offset=0, *, dtype=None, device=None):
    first = (torch.arange(row) + offset).clamp(0, col)
    return indices_in_rows(first, col - first, sum(col - min(max(i + offset, 0), col) for i in range(row)))

def logspace(start, end, steps, base=10.0, *, dtype=None, device=None):
    return torch.pow(base, torch.linspace(start, end, steps))

def cosine_window(length, periodic, factors):
    if length == 1:
        return torch.ones(1)
    angle = torch.arange(length) * (2 * math.pi / (length if periodic else length - 1))
    return sum([factor * torch.cos(i * angle) for i, factor in enumerate(factors)])

def hann_window(window_length, periodic=True, *, dtype=None, device=None):
    return cosine_window(window_length, periodic, (0.5, -0.5))

def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, device=None):
    return cosine_window(window_length, periodic, (alpha, -beta))

def blackman_window(window_length, periodic=True, *, dtype=None, device=None):
    return cosine_window(window_length, periodic, (0.42, -0.5, 0.08))

def bartlett_window(window_length, periodic=True, *, dtype=None, device=None):
    if window_length == 1:
        return torch.ones(1)
    return 1 - (torch.arange(window_length) * (2 / (window_length if periodic else window_length - 1)) - 1).abs()


def embedding(weight, indices): return F.embedding(indices, weight)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    return F.group_norm(input, num_groups, weight, bias, eps)

def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    assert max_norm is None, "max_norm=None"
    assert mode in ("sum", "mean", "max"), "'sum', 'mean' or 'max' as the mode"
    rows = F.embedding(input, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    if input.dim() == 2:
        assert offsets is None and padding_idx is None, "offsets=None and padding_idx=None with bags of equal sizes"
        return rows.sum(1) if mode == "sum" else rows.mean(1) if mode == "mean" else rows.amax(1)
    if include_last_offset:
        offsets = offsets[:-1]
    place = torch.arange(input.shape[0])
    bag = (place >= offsets[:, None]).sum(0) - 1
    is_own = bag == torch.arange(offsets.shape[0])[:, None]
    if padding_idx is not None:
        is_own = is_own & (input != padding_idx % weight.shape[0])
    if mode == "max":
        greatest = torch.where(is_own[..., None], rows, -math.inf).amax(1)
        return torch.where(is_own.any(1, True), greatest, 0.0)
    total = torch.where(is_own[..., None], rows, 0.0).sum(1)
    return total if mode == "sum" else total / is_own.sum(1, True).clamp(min=1)

def pdist(input, p=2.0):
    one, other = torch.triu_indices(input.shape[0], input.shape[0], 1)
    apart = input[one] - input[other]
    return torch.linalg.vector_norm(apart, p, dim=-1)

# The Gumbel noise is -log(-log(u)) of uniform numbers u, which are an input.
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    noise = -torch.log(-torch.log(torch.rand_like(logits)))
    soft = torch.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    return torch.zeros_like(soft).scatter(dim, index, 1.0) - soft + soft

def native_channel_shuffle(input, groups): return F.channel_shuffle(input, groups)
def upsample_nearest(input, size=None, scale_factor=None): return F.interpolate(input, size, scale_factor)
def upsample_bilinear(input, size=None, scale_factor=None):
    return F.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)

def unpooled(input, indices, kernel_size, stride, padding, output_size, dims):
    def of_dims(numbers):
        return (numbers,) * dims if isinstance(numbers, int) else tuple(numbers)
    kernel = of_dims(kernel_size)
    step = kernel if stride is None else of_dims(stride)
    border = of_dims(padding)
    places = input.shape[-dims:]
    size = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(places, step, border, kernel)]
    if output_size is not None:
        size = list(output_size)[-dims:]
    before = list(input.shape[:-dims])
    indices, input = indices.reshape(before + [-1]), input.reshape(before + [-1])
    return torch.zeros(before + [math.prod(size)]).scatter(-1, indices, input).reshape(before + size)

def unpooled_to(input, indices, output_size, stride=None, padding=0):
    return unpooled(input, indices, 1, stride, padding, output_size, len(output_size))

def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return unpooled(input, indices, kernel_size, stride, padding, output_size, 1)

def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return unpooled(input, indices, kernel_size, stride, padding, output_size, 2)

def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return unpooled(input, indices, kernel_size, stride, padding, output_size, 3)
)python";
}

}  // namespace deplo::ir::torch::python
