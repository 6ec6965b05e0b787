#include "ir/torch/pt2/complex.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "ir/torch/operations/given.h"
#include "ir/torch/pt2/fourier.h"

namespace deplo::ir::torch::pt2 {
namespace {

struct Parts {
  Id real, imaginary;  // each has a last dimension of extent 1
};

Parts parts_of(const Call& call, Id x) {
  const std::int64_t last = call.rank(x) - 1;
  return {call.slice(x, last, 0, 1), call.slice(x, last, 1, 2)};
}

Id join(const Call& call, const Parts& parts) {
  return call.add("cat", {parts.real, parts.imaginary}, {{"dim", std::int64_t{-1}}});
}

Id column(const Call& call, Id x) {
  Shape shape = call.shape(x);
  shape.push_back(1);
  return call.reshape(x, shape);
}

Id apply(const Call& call, std::string_view op, Id a, Id b) { return call.add(op, {a, b}); }

/// Returns (x + iy)(u + iv) = xu - yv + i(xv + yu).
Id product(const Call& call, Id a, Id b) {
  const auto [x, y] = parts_of(call, a);
  const auto [u, v] = parts_of(call, b);
  return join(call, {apply(call, "sub", apply(call, "mul", x, u), apply(call, "mul", y, v)),
                     apply(call, "add", apply(call, "mul", x, v), apply(call, "mul", y, u))});
}

/// Returns a real tensor as a complex tensor.
Id with_zeros(const Call& call, Id x) {
  const Id real = column(call, x);
  return join(call, {real, apply(call, "mul", real, call.builder().scalar(0, DType::f32))});
}

/// Returns a dimension of the complex tensor, without the last dimension, which holds the parts.
std::int64_t dim_of(Call& call, std::string_view argument, std::int64_t given, Id x) {
  const std::int64_t rank = call.rank(x) - 1, dim = given < 0 ? given + rank : given;
  if (dim < 0 || dim >= rank) call.fail(argument, "a dimension of the tensor");
  return dim;
}

Id multiply(Call& call, const std::function<bool(std::string_view)>& takes) {
  const Id a = call.operand("self"), b = call.operand("other");
  if (takes("self") && takes("other")) return product(call, a, b);
  const auto real = [&](Id x) { return call.rank(x) == 0 ? x : column(call, x); };  // broadcast to both parts
  return takes("self") ? apply(call, "mul", a, real(b)) : apply(call, "mul", real(a), b);
}

/// Returns r (cos φ + i sin φ).
Id polar(Call& call) {
  const Id radius = call.tensor("abs"), angle = call.tensor("angle");
  const auto part = [&](std::string_view op) {
    return column(call, apply(call, "mul", radius, call.add(op, {angle})));
  };
  return join(call, {part("cos"), part("sin")});
}

/// Returns a sum or difference. A real operand has an imaginary part of 0.
Id combine(Call& call, std::string_view op, const std::function<bool(std::string_view)>& takes) {
  const auto both = [&](std::string_view argument) {
    return takes(argument) ? call.operand(argument) : with_zeros(call, call.operand(argument));
  };
  return apply(call, op, both("self"), both("other"));
}

/// Returns the real or imaginary part, the angle or the absolute value, as a real tensor.
Id part(Call& call, std::string_view name) {
  const Id x = call.tensor("self");
  const auto [real, imaginary] = parts_of(call, x);
  Shape shape = call.shape(x);
  shape.pop_back();
  if (name == "aten.real") return call.reshape(real, shape);
  if (name == "aten.imag") return call.reshape(imaginary, shape);
  if (name == "aten.angle") return call.reshape(angle_of(Given(call), imaginary, real), shape);
  const Id squares = apply(call, "add", apply(call, "mul", real, real), apply(call, "mul", imaginary, imaginary));
  return call.reshape(call.add("sqrt", {squares}), shape);
}

/// Multiplies matrices of complex numbers: mm, bmm, matmul.
Id matrix_product(Call& call, std::string_view second) {
  const auto parts = [&](Id x) {
    Shape shape = call.shape(x);
    shape.pop_back();
    const auto [real, imaginary] = parts_of(call, x);
    return Parts{call.reshape(real, shape), call.reshape(imaginary, shape)};
  };
  const auto [x, y] = parts(call.tensor("self"));
  const auto [u, v] = parts(call.tensor(second));
  const auto times = [&](Id a, Id b) { return apply(call, "matmul", a, b); };
  return join(call, {column(call, apply(call, "sub", times(x, u), times(y, v))),
                     column(call, apply(call, "add", times(x, v), times(y, u)))});
}

Id transpose(Call& call) {
  const Id x = call.tensor("self");
  return call.add("transpose", {x},
                  {{"dim0", dim_of(call, "dim0", call.integer("dim0"), x)},
                   {"dim1", dim_of(call, "dim1", call.integer("dim1"), x)}});
}

Id pad(Call& call) {
  if (call.number("value", 0) != 0) call.fail("value", "0");
  Shape pad = {0, 0};  // no padding in the last dimension, which holds the parts
  for (const std::int64_t n : call.integers("pad")) pad.push_back(n);
  return call.add("pad", {call.tensor("self")}, {{"pad", pad}});
}

Id permute(Call& call) {
  const Id x = call.tensor("self");
  Shape dims;
  for (const std::int64_t dim : call.integers("dims")) dims.push_back(dim_of(call, "dims", dim, x));
  dims.push_back(call.rank(x) - 1);
  return call.add("permute", {x}, {{"dims", dims}});
}

Id conjugate(Call& call) {
  const auto [real, imaginary] = parts_of(call, call.tensor("self"));
  return join(call, {real, call.add("neg", {imaginary})});
}

Id slice(Call& call) {
  const Id x = call.tensor("self");
  const std::int64_t dim = dim_of(call, "dim", call.integer("dim", 0), x);
  const std::int64_t extent = call.shape(x)[static_cast<std::size_t>(dim)];
  const auto place = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + extent : i, 0, extent); };
  const std::int64_t start = place(call.integer("start", 0));
  return call.slice(x, dim, start, std::max(start, place(call.integer("end", extent))), call.integer("step", 1));
}

bool copies(std::string_view name) { return name == "aten._to_copy" || name == "aten.clone"; }

Id reshape(Call& call, bool complex) {
  call.ignore({"size", "shape", "start_dim", "end_dim", "dim", "sizes", "other", "dtype", "layout", "device",
               "pin_memory", "memory_format", "non_blocking", "copy"});
  const Id x = call.tensor("self");
  return call.reshape(complex ? x : with_zeros(call, x), call.output_type().shape);
}

Id expand(Call& call) {
  call.ignore({"size", "implicit", "other"});
  return call.expand(call.tensor("self"), call.output_type().shape);
}

}  // namespace

Id read_complex(Call& call, std::string_view name, const std::function<bool(std::string_view)>& takes) {
  const bool result = is_complex(call.stated_type());
  if (const std::optional<Id> made = read_fourier(call, name, takes("self"))) return *made;
  if (name == "aten.polar") return polar(call);
  if (name == "aten.complex") return join(call, {column(call, call.tensor("real")), column(call, call.tensor("imag"))});
  if (name == "aten.view_as_complex" || name == "aten.view_as_real") return call.tensor("self");
  if (name == "aten.mul" && result) return multiply(call, takes);
  if ((name == "aten.add" || name == "aten.sub") && result) return combine(call, name.substr(5), takes);
  if (name == "aten.real" || name == "aten.imag" || name == "aten.abs" || name == "aten.angle") return part(call, name);
  if ((name == "aten.bmm" || name == "aten.mm") && takes("self") && takes("mat2")) return matrix_product(call, "mat2");
  if (name == "aten.matmul" && takes("self") && takes("other")) return matrix_product(call, "other");
  if (name == "aten.transpose") return transpose(call);
  if (name == "aten.constant_pad_nd") return pad(call);
  if (name == "aten.permute") return permute(call);
  if (name == "aten._conj" || name == "aten.conj") return conjugate(call);
  if (name == "aten.slice") return slice(call);
  if ((name == "aten.expand" || name == "aten.broadcast_to") && result) return expand(call);
  if ((is_reshaping(name) || copies(name)) && result) return reshape(call, takes("self"));
  throw Error(
      fmt::format("expected an operation that is supported on complex numbers (polar, view_as_complex, view_as_real, "
                  "real, imag, abs, angle, add, sub, mul, matmul, conj, slice, shapes, Fourier transforms), found {}",
                  name));
}

}  // namespace deplo::ir::torch::pt2
