// Functions of exported programs: those of complex numbers, as calls of the functions that expressions have, and those
// of quantized numbers.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_program_text() {
  return R"python(
# Functions of exported programs whose arguments are not those of the function or method of the same name in PyTorch.
class Program:
    def add(self, other, alpha=1): return self + (other if alpha == 1 else other * alpha)
    def sub(self, other, alpha=1): return self - (other if alpha == 1 else other * alpha)
    def rsub(self, other, alpha=1): return other - (self if alpha == 1 else self * alpha)
    def mul(self, other): return self * other
    def div(self, other): return self / other
    def pow(self, exponent): return self ** exponent
    def eq(self, other): return self == other
    def ne(self, other): return self != other
    def matmul(self, other): return self @ other
    def mm(self, mat2): return self @ mat2
    def bmm(self, mat2): return self @ mat2
    def linear(input, weight, bias=None): return F.linear(input, weight, bias)
    def var(self, dim=None, unbiased=True, correction=None, keepdim=False):
        return torch.var(self, dim, unbiased, keepdim, correction=None if correction is None else int(correction))
    def std(self, dim=None, unbiased=True, correction=None, keepdim=False):
        return torch.sqrt(Program.var(self, dim, unbiased, correction, keepdim))
    def linalg_vector_norm(self, ord=2, dim=None, keepdim=False, dtype=None):
        return torch.linalg.vector_norm(self, ord, dim, keepdim)
    def einsum(equation, tensors, path=None): return torch.einsum(equation, *tensors)
    def real(self): return self.real
    def imag(self): return self.imag
    def conj(self): return self.conj()
    def view_as_real(self): return self.as_real()
    def view_as_complex(self): return view_as_complex(self)

    def alias(self): return self
    def lift_fresh_copy(self): return self
    def to(self, dtype=None, other=None, copy=False):
        return self if dtype is None and other is None else self.to(other.dtype if dtype is None else dtype)
    def copy(self, src):
        result = self.clone()
        result.copy_(src)
        return result
    def fill(self, value): return Program.copy(self, value)
    def zero(self): return Program.copy(self, 0.0)

    def view(self, size=None, dtype=None):
        return self.reshape(size) if dtype is None else self.view(dtype)
    def reshape(self, shape): return self.reshape(shape)
    def expand(self, size): return self.expand(size)
    def expand_as(self, other): return self.expand(other.shape)
    def reshape_as(self, other): return self.reshape(other.shape)
    def view_as(self, other): return self.reshape(other.shape)
    def broadcast_to(self, size): return self.broadcast_to(size)
    def permute(self, dims): return self.permute(dims)
    def repeat(self, repeats): return self.repeat(repeats)
    def flip(self, dims): return torch.flip(self, dims)
    def t(self): return self.mT if self.ndim > 1 else self
    def numpy_T(self): return self.T
    def mT(self): return self.mT
    def mH(self): return self.mH
    def adjoint(self): return self.mH
    def matrix_H(self): return self.mH
    def swapaxes(self, axis0, axis1): return self.transpose(axis0, axis1)
    def constant_pad_nd(self, pad, value=0.0): return F.pad(self, pad, value=value)
    def pad(self, pad, mode="constant", value=None): return F.pad(self, pad, mode, value)
    def split(self, split_size, dim=0): return self.split(split_size, dim)
    def tensor_split(self, sections=None, indices=None, dim=0):
        return torch.tensor_split(self, sections if indices is None else indices, dim)
    def split_with_sizes(self, split_sizes, dim=0): return self.split(split_sizes, dim)
    def slice(self, dim=0, start=None, end=None, step=1): return self[index_of(self, dim, start, end, step)]
    def index(self, indices): return self[tuple([slice(None) if i is None else i for i in indices])]
    def index_put(self, indices, values, accumulate=False):
        if accumulate:
            reals, imags = both_parts((self, values))
            return Complex(*[x.index_put(indices, y, accumulate=True) for x, y in (reals, imags)])
        result = self.clone()
        result[tuple([slice(None) if i is None else i for i in indices])] = values
        return result
    def embedding(weight, indices, **options): return weight[indices]
    def meshgrid(tensors, indexing="ij"): return torch.meshgrid(*tensors, indexing=indexing)
    def where(condition, self, other): return torch.where(condition, self, other)

    def zeros(size, dtype): return torch.zeros(size, dtype=dtype)
    def ones(size, dtype): return torch.ones(size, dtype=dtype)
    def empty(size, dtype): return torch.zeros(size, dtype=dtype)
    def full(size, fill_value, dtype=complex64): return torch.full(size, fill_value, dtype=dtype)
    def scalar_tensor(s, dtype): return torch.tensor(s, dtype=dtype)
    def zeros_like(self, dtype=complex64): return torch.zeros_like(self.real, dtype=dtype)
    def ones_like(self, dtype=complex64): return torch.ones_like(self.real, dtype=dtype)
    def empty_like(self, dtype=complex64): return torch.zeros_like(self.real, dtype=dtype)
    def full_like(self, fill_value, dtype=complex64): return torch.full_like(self.real, fill_value, dtype=dtype)
    def new_zeros(self, size, dtype=complex64): return torch.zeros(size, dtype=dtype)
    def new_ones(self, size, dtype=complex64): return torch.ones(size, dtype=dtype)

    def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=False, pad_mode="reflect",
             normalized=False, onesided=None, return_complex=True, align_to_window=False):
        return stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)

    # `normalization`: 0: the sum; 1: divided by the root of the count; 2: divided by the count.
    def _fft_r2c(self, dim, normalization, onesided):
        return (rfftn if onesided else fftn)(self, None, dim, ("backward", "ortho", "forward")[normalization])
    def _fft_c2c(self, dim, normalization, forward):
        norms = ("backward", "ortho", "forward") if forward else ("forward", "ortho", "backward")
        return (fftn if forward else ifftn)(self, None, dim, norms[normalization])
    def _fft_c2r(self, dim, normalization, last_dim_size):
        norm = ("forward", "ortho", "backward")[normalization]
        return irfft(transformed_along(ifft, self, None, dim[:-1], norm), last_dim_size, dim[-1], norm)

def index_of(x, dim, start, end, step):
    end = None if end is None or end >= x.shape[dim] else end
    return (slice(None),) * (dim % x.ndim) + (slice(start, end, step),)

other_program_names = {
    "_conj": "conj", "_conj_physical": "conj", "conj_physical": "conj", "resolve_conj": "alias", "resolve_neg": "alias",
    "detach": "alias", "_to_copy": "to", "_unsafe_view": "view", "_reshape_copy": "reshape", "squeeze_copy": "squeeze"}

# `mode`: 0: the sum, 1: the mean, 2: the maximum. A negative padding_idx stands for none.
def program_embedding_bag(weight, indices, offsets, mode=0, padding_idx=-1, **others):
    padding_idx = None if padding_idx < 0 else padding_idx
    return embedding_bag(indices, weight, offsets, mode=("sum", "mean", "max")[mode], padding_idx=padding_idx, **others)

# Programs that torch.ao quantized. A token is a line along the last dimension, a group is a part of such a line.
# Returns numbers that a tensor has for each position along `axis`, in a shape that broadcasts to the input.
def of_channels(numbers, input, axis):
    if axis is None or not torch.is_tensor(numbers):
        return numbers
    return numbers.reshape([-1 if d == axis % input.ndim else 1 for d in range(input.ndim)])

# As in PyTorch, rounds before the zero point is added, which matters for halves, and multiplies by 1 / scale.
def quantized(input, scale, zero_point, quant_min, quant_max):
    return (torch.round(input * (1 / scale)) + zero_point).clamp(quant_min, quant_max)

def dequantized(input, scale, zero_point): return (input - zero_point) * scale

def quantize(input, scale, zero_point, quant_min, quant_max, axis=None):
    scale, zero_point = [of_channels(x, input, axis) for x in (scale, zero_point)]
    return quantized(input.float(), scale, zero_point, quant_min, quant_max).to(torch.int32)

def dequantize(input, scale, zero_point=0, quant_min=None, quant_max=None, axis=None):
    return dequantized(input.float(), *[of_channels(x, input, axis) for x in (scale, zero_point)])

# Returns the nearest numbers that a quantized number can represent.
def fake_quantize(input, scale, zero_point, quant_min, quant_max, axis=None):
    scale, zero_point = [of_channels(x, input, axis) for x in (scale, zero_point)]
    zero_point = zero_point.float() if torch.is_tensor(zero_point) else zero_point
    return dequantized(quantized(input, scale, zero_point, quant_min, quant_max), scale, zero_point)

def choose_qparams(input, quant_min, quant_max, eps):
    low, high = input.amin().clamp(max=0), input.amax().clamp(min=0)
    scale = ((high - low) / (quant_max - quant_min)).clamp(min=eps)
    zero_point = (quant_min - torch.round(low / scale)).clamp(quant_min, quant_max)
    return scale.reshape(1), zero_point.reshape(1).to(torch.int64)

def choose_qparams_per_token(input):
    greatest = input.abs().amax(-1, keepdim=True)
    scales = (greatest.float() if input.dtype == torch.float16 else greatest).clamp(min=1e-5) / 127
    return scales, torch.zeros_like(scales, dtype=torch.int64)  # as in the type that files state

def choose_qparams_per_token_asymmetric(input):
    low, high = input.amin(-1, keepdim=True).clamp(max=0), input.amax(-1, keepdim=True).clamp(min=0)
    scales = ((high - low) / 255).clamp(min=torch.finfo(torch.float32).eps)
    low, high = low / scales, high / scales
    zero_points = torch.where((low - 128) + (high + 127) > 0, -128 - low, 127 - high)
    return scales, torch.round(zero_points.clamp(-128, 127)).to(torch.int64)

def quantize_per_token(input, scales, zero_points, quant_min, quant_max):
    return torch.round(input * (1 / scales) + zero_points).clamp(quant_min, quant_max).to(torch.int32)

def dequantize_per_token(input, scales, zero_points, quant_min, quant_max): return (input - zero_points) * scales

def groups_of(input, scales, zero_points, group_size):
    zero_points = 0 if zero_points is None else zero_points.reshape(-1, 1)
    return input.reshape(-1, min(group_size, input.shape[-1])), scales.reshape(-1, 1), zero_points

def quantize_per_channel_group(input, scales, zero_points, quant_min, quant_max, group_size=128):
    groups = groups_of(input, scales, zero_points, group_size)
    return quantize_per_token(*groups, quant_min, quant_max).reshape(input.shape)

def dequantize_per_channel_group(input, scales, zero_points=None, quant_min=0, quant_max=0, group_size=128):
    groups = groups_of(input, scales, zero_points, group_size)
    return dequantize_per_token(*groups, quant_min, quant_max).reshape(input.shape)

# Programs that torchao quantized. Each block of the input has its scale. A tensor's blocks are (count, block, …).
def blocks_of(input, block_size):
    shape = []
    for size, block in zip(input.shape, block_size):
        shape += [size // block, block]
    return input.reshape(shape)

def by_blocks(numbers, blocks):
    return numbers.reshape([1 if d % 2 else size for d, size in enumerate(blocks.shape)])

def choose_qparams_affine(input, mapping_type, block_size, quant_min, quant_max, eps=None, keepdim=False):
    eps = torch.finfo(input.dtype).smallest_normal if eps is None else eps
    blocks, inner = blocks_of(input, block_size), list(range(1, 2 * input.ndim, 2))
    low, high = blocks.amin(inner).clamp(max=0), blocks.amax(inner).clamp(min=0)
    if mapping_type == "ASYMMETRIC":
        scale = ((high - low) / (quant_max - quant_min)).clamp(min=eps)
        zero_point = (quant_min - torch.round(low / scale)).clamp(quant_min, quant_max)
    else:
        if mapping_type == "SYMMETRIC":
            scale = torch.maximum(-low, high) / ((quant_max - quant_min) / 2)
        else:
            scale = torch.maximum(low / quant_min, high / quant_max)
        scale = scale.clamp(min=eps)
        zero_point = torch.full_like(scale, int((quant_max + quant_min + 1) / 2))
    sizes = zip(scale.shape, block_size, input.shape)
    shape = [count for count, block, size in sizes if keepdim or block == 1 or block != size]
    return scale.reshape(shape), zero_point.reshape(shape).to(torch.int32)

def quantize_affine(input, block_size, scale, zero_point, quant_min, quant_max):
    blocks = blocks_of(input, block_size)
    numbers = quantized(blocks, by_blocks(scale, blocks), by_blocks(zero_point, blocks), quant_min, quant_max)
    return numbers.reshape(input.shape).to(torch.int32)

def dequantize_affine(input, block_size, scale, zero_point=None, quant_min=None, quant_max=None):
    blocks = blocks_of(input.float(), block_size)
    numbers = blocks if zero_point is None else blocks - by_blocks(zero_point, blocks)
    return (numbers * by_blocks(scale, blocks)).reshape(input.shape)

# Calls the function `name` of an exported program, which has complex arguments or results. `given`: the arguments, by
# their names in the function's schema.
def of_program(name, given):
    name = other_program_names.get(name, name)
    given = {key: value for key, value in given.items() if key not in ("pin_memory", "non_blocking", "implicit")}
    if hasattr(Program, name):
        return getattr(Program, name)(**given)
    self = given.pop("self", None)
    for prefix, module in (("fft_", torch.fft), ("linalg_", torch.linalg)):
        if name.startswith(prefix):
            return getattr(module, name[len(prefix):])(*([] if self is None else [self]), **given)
    return getattr(torch, name)(**given) if self is None else getattr(self, name)(**given)
)python";
}

}  // namespace deplo::ir::torch::python
