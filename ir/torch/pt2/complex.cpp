#include "ir/torch/pt2/complex.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace deplo::ir::torch::pt2 {
namespace {

struct Parts {
  Id real, imaginary;  // with a last dimension of extent 1
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

/// (x + iy)(u + iv) = xu - yv + i(xv + yu)
Id product(const Call& call, Id a, Id b) {
  const auto [x, y] = parts_of(call, a);
  const auto [u, v] = parts_of(call, b);
  return join(call, {apply(call, "sub", apply(call, "mul", x, u), apply(call, "mul", y, v)),
                     apply(call, "add", apply(call, "mul", x, v), apply(call, "mul", y, u))});
}

Id multiply(Call& call, const std::function<bool(std::string_view)>& takes) {
  const Id a = call.operand("self"), b = call.operand("other");
  if (takes("self") && takes("other")) return product(call, a, b);
  const auto real = [&](Id x) { return call.rank(x) == 0 ? x : column(call, x); };  // beside both parts
  return takes("self") ? apply(call, "mul", a, real(b)) : apply(call, "mul", real(a), b);
}

/// r (cos φ + i sin φ)
Id polar(Call& call) {
  const Id radius = call.tensor("abs"), angle = call.tensor("angle");
  const auto part = [&](std::string_view op) {
    return column(call, apply(call, "mul", radius, call.add(op, {angle})));
  };
  return join(call, {part("cos"), part("sin")});
}

Id conjugate(Call& call) {
  const auto [real, imaginary] = parts_of(call, call.tensor("self"));
  return join(call, {real, call.add("neg", {imaginary})});
}

Id slice(Call& call) {
  const Id x = call.tensor("self");
  const std::int64_t rank = call.rank(x) - 1, given = call.integer("dim", 0), dim = given < 0 ? given + rank : given;
  if (dim < 0 || dim >= rank) call.fail("dim", "a dimension of the tensor");
  const std::int64_t extent = call.shape(x)[static_cast<std::size_t>(dim)];
  const auto place = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + extent : i, 0, extent); };
  const std::int64_t start = place(call.integer("start", 0));
  return call.slice(x, dim, start, std::max(start, place(call.integer("end", extent))), call.integer("step", 1));
}

bool copies(std::string_view name) { return name == "aten._to_copy" || name == "aten.clone"; }

Id reshape(Call& call) {
  call.ignore({"size", "shape", "start_dim", "end_dim", "dim", "sizes", "other", "dtype", "layout", "device",
               "pin_memory", "memory_format", "non_blocking", "copy"});
  return call.reshape(call.tensor("self"), call.output_type().shape);
}

Id expand(Call& call) {
  call.ignore({"size", "implicit", "other"});
  return call.expand(call.tensor("self"), call.output_type().shape);
}

}  // namespace

Id read_complex(Call& call, std::string_view name, const std::function<bool(std::string_view)>& takes) {
  const bool result = is_complex(call.stated_type());
  if (name == "aten.polar") return polar(call);
  if (name == "aten.complex") return join(call, {column(call, call.tensor("real")), column(call, call.tensor("imag"))});
  if (name == "aten.view_as_complex" || name == "aten.view_as_real") return call.tensor("self");
  if (name == "aten.mul" && result) return multiply(call, takes);
  if (name == "aten._conj" || name == "aten.conj") return conjugate(call);
  if (name == "aten.slice") return slice(call);
  if ((name == "aten.expand" || name == "aten.broadcast_to") && result) return expand(call);
  if ((is_reshaping(name) || copies(name)) && result) return reshape(call);
  throw Error(
      fmt::format("expected an operation that is supported on complex numbers (polar, view_as_complex, "
                  "view_as_real, mul, conj, slice, shapes), found {}",
                  name));
}

}  // namespace deplo::ir::torch::pt2
