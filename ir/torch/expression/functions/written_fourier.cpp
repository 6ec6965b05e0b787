// torch.fft, written in the language itself: products with tables of cosines and sines.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

std::string_view written_fourier_text() {
  return R"python(
def parts_of(input): return (input.real, input.imag) if isinstance(input, Complex) else (as_float(input), None)

# Returns the first n numbers along a dimension, with zeros after the last one.
def resized(x, n, dim):
    length = x.shape[dim]
    if n == length:
        return x
    return x.narrow(dim, 0, n) if n < length else F.pad(x, [0, 0] * (x.dim() - 1 - dim) + [0, n - length])

# Returns cos(2πij / n) and sin(2πij / n), multiplied by the scale.
def fourier_tables(rows, columns, n, norm, is_inverse):
    assert 0 < n <= 8192, "from 1 to 8192 numbers along a dimension"
    assert norm in (None, "forward", "backward", "ortho"), "'forward', 'backward' or 'ortho' as the norm"
    scale = n ** -0.5 if norm == "ortho" else 1 / n if is_inverse == (norm != "forward") else 1.0
    angle = (torch.arange(rows)[:, None] * torch.arange(columns) % n) * (2 * math.pi / n)
    return torch.cos(angle) * scale, torch.sin(angle) * scale

# Returns the dimension counted from the first one.
def dim_of(dim, rank):
    assert -rank <= dim < rank, f"a dimension from {-rank} to {rank - 1}, found {dim}"
    return dim % rank

# The transform along one dimension. With `half`, it returns the first n // 2 + 1 numbers.
def transformed(input, n, dim, norm, is_inverse, half=False):
    real, imag = parts_of(input)
    dim = dim_of(dim, real.dim())
    n = real.shape[dim] if n in (None, -1) else n
    cos, sin = fourier_tables(n, n // 2 + 1 if half else n, n, norm, is_inverse)
    sin = sin if is_inverse else -sin
    real = resized(real, n, dim).transpose(dim, -1)
    parts = real @ cos, real @ sin
    if imag is None:  # numbers 0 and n / 2 are real; a small rest would turn their angle from pi to -pi
        is_real = 2 * torch.arange(sin.shape[1]) % n == 0
        parts = parts[0], torch.where(is_real, -0.0 if is_inverse else 0.0, parts[1])
    else:
        imag = resized(imag, n, dim).transpose(dim, -1)
        parts = parts[0] - imag @ sin, parts[1] + imag @ cos
    return Complex(*[part.transpose(dim, -1) for part in parts])

def fft(input, n=None, dim=-1, norm=None): return transformed(input, n, dim, norm, False)
def ifft(input, n=None, dim=-1, norm=None): return transformed(input, n, dim, norm, True)
def rfft(input, n=None, dim=-1, norm=None):
    assert not isinstance(input, Complex), "real numbers for rfft; fft takes complex numbers"
    return transformed(input, n, dim, norm, False, half=True)


# Each number but those at 0 and n / 2 also stands for its conjugate. The imaginary parts of these two do not count.
def irfft(input, n=None, dim=-1, norm=None):
    real, imag = parts_of(input)
    dim = dim_of(dim, real.dim())
    n = 2 * (real.shape[dim] - 1) if n in (None, -1) else n
    half = n // 2 + 1
    place = torch.arange(half)[:, None]
    weight = torch.where((place == 0) | (2 * place == n), 1.0, 2.0)
    cos, sin = fourier_tables(half, n, n, norm, True)
    result = resized(real, half, dim).transpose(dim, -1) @ (cos * weight)
    if imag is not None:
        result = result - resized(imag, half, dim).transpose(dim, -1) @ (sin * weight)
    return result.transpose(dim, -1)

# The transforms of a half of numbers whose other half has the conjugates have the norms of the opposite direction.
def opposite(norm): return {"forward": "backward", "ortho": "ortho"}.get(norm, "forward")
def hfft(input, n=None, dim=-1, norm=None): return irfft(conj(input), n, dim, opposite(norm))
def ihfft(input, n=None, dim=-1, norm=None): return rfft(input, n, dim, opposite(norm)).conj()

# Applies a transform along one dimension to several. `s`: the size of each, or None.
def transformed_along(transform, input, s, dim, norm):
    for size, d in zip(dim if s is None else s, dim):
        input = transform(input, None if s is None else size, d, norm)
    return input

def transformed_dims(input, s, dim):
    rank = len(input.shape)
    return [dim_of(d, rank) for d in (range(-(rank if s is None else len(s)), 0) if dim is None else dim)]

def fftn(input, s=None, dim=None, norm=None):
    return transformed_along(fft, input, s, transformed_dims(input, s, dim), norm)

def ifftn(input, s=None, dim=None, norm=None):
    return transformed_along(ifft, input, s, transformed_dims(input, s, dim), norm)

def rfftn(input, s=None, dim=None, norm=None):
    dim = transformed_dims(input, s, dim)
    half = rfft(input, None if s is None else s[-1], dim[-1], norm)
    return transformed_along(fft, half, s if s is None else s[:-1], dim[:-1], norm)

def irfftn(input, s=None, dim=None, norm=None):
    dim = transformed_dims(input, s, dim)
    half = transformed_along(ifft, input, s if s is None else s[:-1], dim[:-1], norm)
    return irfft(half, None if s is None else s[-1], dim[-1], norm)

def fft2(input, s=None, dim=(-2, -1), norm=None): return fftn(input, s, dim, norm)
def ifft2(input, s=None, dim=(-2, -1), norm=None): return ifftn(input, s, dim, norm)
def rfft2(input, s=None, dim=(-2, -1), norm=None): return rfftn(input, s, dim, norm)
def irfft2(input, s=None, dim=(-2, -1), norm=None): return irfftn(input, s, dim, norm)

def rolled(input, dim, is_back):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return torch.roll(input, [(-1 if is_back else 1) * (input.shape[d] // 2) for d in dims], dims)

def fftshift(input, dim=None): return rolled(input, dim, False)
def ifftshift(input, dim=None): return rolled(input, dim, True)
def rfftfreq(n, d=1.0, *, dtype=None, device=None): return torch.arange(n // 2 + 1) / (n * d)
def fftfreq(n, d=1.0, *, dtype=None, device=None): return ifftshift(torch.arange(-(n // 2), (n + 1) // 2)) / (n * d)

# A window in the middle of n_fft numbers. Without a window, all numbers of the middle count.
def window_of(window, n_fft, win_length):
    win_length = n_fft if win_length is None else win_length
    before = (n_fft - win_length) // 2
    return F.pad(torch.ones(win_length) if window is None else window, [before, n_fft - win_length - before])

def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None):
    assert return_complex or isinstance(input, Complex), "return_complex=True"
    if center:
        sides = [n_fft // 2, n_fft // 2]
        input = F.pad(input[None], sides, pad_mode)[0] if input.dim() == 1 else F.pad(input, sides, pad_mode)
    frames = input.unfold(-1, n_fft, n_fft // 4 if hop_length is None else hop_length)
    frames = frames * window_of(window, n_fft, win_length)
    half = not isinstance(frames, Complex) if onesided is None else onesided
    return (rfft if half else fft)(frames, norm="ortho" if normalized else "backward").transpose(-2, -1)

# The windows that overlap are added, and divided by the sum of the squares of their weights. Of a spectrum with both
# sides, the first n_fft // 2 + 1 numbers count, as in PyTorch.
def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
          length=None, return_complex=False):
    assert not return_complex, "return_complex=False"
    assert isinstance(input, Complex), "complex numbers, such as those of stft"
    bins = n_fft if onesided is False else n_fft // 2 + 1
    assert input.shape[-2] == bins, f"{bins} numbers for each window, found {input.shape[-2]}"
    hop_length = n_fft // 4 if hop_length is None else hop_length
    window = window_of(window, n_fft, win_length)
    spectra, norm = input.transpose(-2, -1), "ortho" if normalized else "backward"
    frames = irfft(spectra, n_fft, norm=norm) * window
    count = frames.shape[-2]
    total, side = n_fft + hop_length * (count - 1), n_fft // 2 if center else 0
    def added(x):
        columns = x.reshape(-1, count, n_fft).transpose(1, 2)
        return F.fold(columns, (1, total), (1, n_fft), stride=(1, hop_length)).reshape(-1, total)
    end = total - side if length is None else min(side + length, total)
    result = (added(frames) / added((window * window).expand(count, n_fft)))[:, side:end]
    return resized(result, end - side if length is None else length, 1).reshape(list(input.shape[:-2]) + [-1])
)python";
}

}  // namespace deplo::ir::torch::python
