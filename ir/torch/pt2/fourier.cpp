// A transform along a dimension of n numbers is a product with the table of cos and sin of 2πjk / n, in n² steps.
//   forward:  Xₖ = Σⱼ xⱼ (cos − i sin)      inverse:  xⱼ = Σₖ Xₖ (cos + i sin)
// The transform of real numbers has a second half that follows from the first, X₍ₙ₋ₖ₎ = conj(Xₖ). `half` stands for the
// first half.
#include "ir/torch/pt2/fourier.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.h"
#include "core/indices.h"

namespace deplo::ir::torch::pt2 {
namespace {

/// Greatest length of a transform. A larger table would take too much memory.
constexpr std::int64_t longest = 8192;

struct Spectrum {
  Id real = -1;
  std::optional<Id> imaginary;  // nullopt if it is 0
};

class Fourier {
 public:
  explicit Fourier(Call& call) : call_(call) {}

  Spectrum argument(bool complex) const {
    const Id x = call_.tensor("self");
    if (!complex) return {call_.to(x, DType::f32), std::nullopt};
    Shape shape = call_.shape(x);
    const std::int64_t last = static_cast<std::int64_t>(shape.size()) - 1;
    shape.pop_back();
    const auto part = [&](std::int64_t i) { return call_.reshape(call_.slice(x, last, i, i + 1), shape); };
    return {part(0), part(1)};
  }

  Id joined(const Spectrum& x) const {
    Shape shape = call_.shape(x.real);
    shape.push_back(1);
    const Id imaginary = x.imaginary ? *x.imaginary : scaled(x.real, 0);
    return call_.add("cat", {call_.reshape(x.real, shape), call_.reshape(imaginary, shape)},
                     {{"dim", std::int64_t{-1}}});
  }

  /// Returns the first `count` results along a dimension.
  Spectrum transformed(const Spectrum& x, std::int64_t dim, std::int64_t count, bool inverse) const {
    const auto [cos, sin] = table(extent(x, dim), count, extent(x, dim));
    const auto times = [&](Id part, Id by) { return product(part, dim, by); };
    const std::string_view first = inverse ? "sub" : "add";
    if (!x.imaginary) {
      const Id turned = times(x.real, sin);
      return {times(x.real, cos), inverse ? turned : scaled(turned, -1)};
    }
    const Id real = apply(first, times(x.real, cos), times(*x.imaginary, sin));
    const Id imaginary = apply(inverse ? "add" : "sub", times(*x.imaginary, cos), times(x.real, sin));
    return {real, imaginary};
  }

  /// Returns the inverse transform of a half, which has `count` real numbers. Each element of the half counts twice,
  /// except for the first element, and for the middle element of an even count.
  Spectrum from_half(const Spectrum& x, std::int64_t dim, std::int64_t count) const {
    const Spectrum half = resized(x, dim, count / 2 + 1);
    const auto [cos, sin] = table(count / 2 + 1, count, count);
    const Id places = range(count / 2 + 1);
    const Id doubled = call_.add("mul", {places, number(2)});
    const Id rest = call_.add("remainder", {doubled}, {{"divisor", count}});
    const Id once = call_.to(call_.add("eq", {rest, number(0)}), DType::f32);
    const Id weights = call_.reshape(apply("sub", real(2), once), {count / 2 + 1, 1});
    const Id real = product(half.real, dim, apply("mul", cos, weights));
    if (!half.imaginary) return {real, std::nullopt};
    return {apply("sub", real, product(*half.imaginary, dim, apply("mul", sin, weights))), std::nullopt};
  }

  /// Changes an extent to `count`: pads with zeros at the end, or cuts off the end.
  Spectrum resized(const Spectrum& x, std::int64_t dim, std::int64_t count) const {
    const std::int64_t more = count - extent(x, dim);
    const auto one = [&](Id part) {
      if (more <= 0) return call_.slice(part, dim, 0, count);
      Shape pad(2 * static_cast<std::size_t>(call_.rank(part) - dim), 0);
      pad.back() = more;
      return call_.add("pad", {part}, {{"pad", pad}});
    };
    return {one(x.real), x.imaginary ? std::optional(one(*x.imaginary)) : std::nullopt};
  }

  Spectrum scaled(const Spectrum& x, double by) const {
    return {scaled(x.real, by), x.imaginary ? std::optional(scaled(*x.imaginary, by)) : std::nullopt};
  }

  std::int64_t extent(const Spectrum& x, std::int64_t dim) const {
    return call_.shape(x.real)[static_cast<std::size_t>(dim)];
  }

 private:
  Id apply(std::string_view op, Id a, Id b) const { return call_.add(op, {a, b}); }
  Id real(double value) const { return call_.builder().scalar(value, DType::f32); }
  Id number(std::int64_t value) const { return call_.builder().scalar(static_cast<double>(value), DType::i64); }
  Id scaled(Id x, double by) const { return by == 1 ? x : apply("mul", x, real(by)); }
  Id range(std::int64_t count) const { return call_.add("arange", {}, {{"end", count}}); }

  /// Returns cos and sin of 2πjk / n, where j is the row and k the column.
  std::pair<Id, Id> table(std::int64_t rows, std::int64_t columns, std::int64_t n) const {
    if (n < 1 || n > longest)
      throw Error(fmt::format("expected Fourier transforms of 1 to {} numbers, found {}", longest, n));
    const Id steps = apply("mul", call_.reshape(range(rows), {rows, 1}), range(columns));
    const Id within = call_.add("remainder", {steps}, {{"divisor", n}});
    const Id angle = apply("mul", call_.to(within, DType::f32), real(2 * std::numbers::pi / static_cast<double>(n)));
    return {call_.add("cos", {angle}), call_.add("sin", {angle})};
  }

  /// Returns the product of x and a table along a dimension.
  Id product(Id x, std::int64_t dim, Id by) const {
    Shape order = indices<std::int64_t>(call_.shape(x).size());
    std::swap(order[static_cast<std::size_t>(dim)], order.back());
    const auto moved = [&](Id id) {
      return dim + 1 == call_.rank(x) ? id : call_.add("permute", {id}, {{"dims", order}});
    };
    return moved(apply("matmul", moved(x), by));
  }

  Call& call_;
};

/// The parameters of a transform, whichever function it comes from. `counts`: the number of elements along each
/// dimension.
struct Transform {
  Shape dims, counts;
  bool inverse = false, to_half = false, from_half = false;
  double scale = 1;
};

Spectrum run(const Fourier& f, Spectrum x, const Transform& t) {
  const std::size_t last = t.dims.size() - 1;
  const auto along = [&](std::size_t d) {
    const bool half = t.to_half && d == last;
    x = f.transformed(x, t.dims[d], half ? t.counts[d] / 2 + 1 : t.counts[d], t.inverse);
  };
  if (!t.from_half) along(last);  // real numbers first, because they take half of the work
  for (std::size_t d = 0; d < last; ++d) along(d);
  if (t.from_half) x = f.from_half(x, t.dims[last], t.counts[last]);
  return f.scaled(x, t.scale);
}

/// Returns 1, 1 / √n or 1 / n for a power of 0, 0.5 or 1, where n is the product of all counts.
double scale_of(const Shape& counts, double power) {
  double n = 1;
  for (const std::int64_t count : counts) n *= static_cast<double>(count);
  return std::pow(n, -power);
}

Shape wrapped(Call& call, const Shape& dims, std::int64_t rank) {
  Shape result;
  for (const std::int64_t dim : dims) {
    if (dim < -rank || dim >= rank) call.fail("dim", "dimensions of the tensor");
    result.push_back(dim < 0 ? dim + rank : dim);
  }
  return result;
}

std::int64_t rank_of(const Call& call, const Spectrum& x) { return call.rank(x.real); }

// Reads _fft_r2c(self, dim, normalization, onesided), _fft_c2c(…, forward) and _fft_c2r(…, last_dim_size).
Id core_transform(Call& call, std::string_view name, bool complex) {
  const Fourier f(call);
  const Spectrum x = f.argument(complex);
  Transform t;
  t.dims = wrapped(call, call.integers("dim"), rank_of(call, x));
  if (t.dims.empty()) call.fail("dim", "at least one dimension");
  for (const std::int64_t dim : t.dims) t.counts.push_back(f.extent(x, dim));
  if (name == "aten._fft_c2c") t.inverse = !call.flag("forward", true);
  t.to_half = name == "aten._fft_r2c" && call.flag("onesided", true);
  t.from_half = name == "aten._fft_c2r";
  t.inverse |= t.from_half;
  if (t.from_half) t.counts.back() = call.integer("last_dim_size");
  const std::int64_t mode = call.integer("normalization", 0);
  t.scale = scale_of(t.counts, mode == 0 ? 0 : mode == 1 ? 0.5 : 1);
  const Spectrum result = run(f, x, t);
  return t.from_half ? result.real : f.joined(result);
}

/// Reads the dimensions and the length along each of them. A length that is not given comes from the tensor.
void read_extents(Call& call, const Fourier& f, const Spectrum& x, std::string_view kind, Transform& t) {
  const std::int64_t rank = rank_of(call, x);
  const Shape sizes = call.integers(kind.empty() ? "n" : "s");
  Shape dims = kind.empty() ? Shape{call.integer("dim", -1)} : Shape{-2, -1};
  if (kind == "n") {
    dims.resize(sizes.empty() ? static_cast<std::size_t>(rank) : sizes.size());
    std::iota(dims.begin(), dims.end(), rank - static_cast<std::int64_t>(dims.size()));
  }
  if (!kind.empty() && call.has("dim")) dims = call.integers("dim");
  t.dims = wrapped(call, dims, rank);
  if (t.dims.empty() || (!sizes.empty() && sizes.size() != dims.size())) call.fail("dim", "a dimension for each size");
  for (std::size_t d = 0; d < t.dims.size(); ++d) {
    const std::int64_t own = f.extent(x, t.dims[d]);
    const bool half = t.from_half && d + 1 == t.dims.size();
    t.counts.push_back(!sizes.empty() && sizes[d] != -1 ? sizes[d] : half ? 2 * (own - 1) : own);
  }
}

// Reads fft_fft(self, n, dim, norm), fft_irfft2(self, s, dim, norm), fft_rfftn, …
Id named_transform(Call& call, std::string_view name, std::string_view kind, bool complex) {
  const Fourier f(call);
  Spectrum x = f.argument(complex);
  Transform t;
  t.inverse = name.starts_with("i");
  const bool real = name.find("rfft") != std::string_view::npos;
  t.to_half = real && !t.inverse;
  t.from_half = real && t.inverse;
  read_extents(call, f, x, kind, t);
  for (std::size_t d = 0; d < t.dims.size(); ++d)
    if (!t.from_half || d + 1 < t.dims.size()) x = f.resized(x, t.dims[d], t.counts[d]);
  const std::string norm = call.text("norm", "backward");
  if (norm != "backward" && norm != "ortho" && norm != "forward") call.fail("norm", "'backward', 'ortho' or 'forward'");
  t.scale = scale_of(t.counts, norm == "ortho" ? 0.5 : (norm == "forward") != t.inverse ? 1 : 0);
  const Spectrum result = run(f, x, t);
  return t.from_half ? result.real : f.joined(result);
}

/// Reads stft(self, n_fft, hop_length, win_length, window, normalized, onesided), which transforms windows of a signal.
/// Each window is multiplied by `window`, and its transform becomes a column.
Id windows_transform(Call& call, bool complex) {
  const Fourier f(call);
  if (!call.flag("return_complex", true)) call.fail("return_complex", "True");
  call.ignore({"align_to_window"});
  const std::int64_t count = call.integer("n_fft"), width = call.integer("win_length", count);
  const std::int64_t hop = call.integer("hop_length", count / 4);
  Spectrum x = f.argument(complex);
  if (complex) call.fail("self", "real numbers");
  x.real = call.add("windows", {x.real}, {{"kernel", Shape{count}}, {"stride", Shape{hop}}, {"dilation", Shape{1}}});
  if (call.has("window")) {
    const std::int64_t before = (count - width) / 2;  // a short window is centred
    Id window = call.tensor("window");
    if (width != count) window = call.add("pad", {window}, {{"pad", Shape{before, count - width - before}}});
    x.real = call.add("mul", {x.real, window});
  }
  const std::int64_t last = call.rank(x.real) - 1;
  const Spectrum made = f.transformed(x, last, call.flag("onesided", true) ? count / 2 + 1 : count, false);
  const double scale = call.flag("normalized", false) ? scale_of({count}, 0.5) : 1;
  return call.add("transpose", {f.joined(f.scaled(made, scale))}, {{"dim0", last - 1}, {"dim1", last}});
}

}  // namespace

std::optional<Id> read_fourier(Call& call, std::string_view name, bool complex) {
  if (name == "aten._fft_r2c" || name == "aten._fft_c2c" || name == "aten._fft_c2r")
    return core_transform(call, name, complex);
  if (name == "aten.stft") return windows_transform(call, complex);
  constexpr std::string_view prefix = "aten.fft_";
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view short_name = name.substr(prefix.size());
  for (const std::string_view base : {"fft", "ifft", "rfft", "irfft"})
    for (const std::string_view kind : {"", "2", "n"})
      if (short_name == fmt::format("{}{}", base, kind)) return named_transform(call, short_name, kind, complex);
  return std::nullopt;
}

}  // namespace deplo::ir::torch::pt2
