#include "measure/matmul_shape.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace deplo::measure {
namespace {

/// The parts of a matmul's loop nest: the free loops, the loop of the sum, the loads and the write.
struct Parts {
  std::vector<ir::Axis> free;
  ir::Axis sum;
  std::array<const ir::Load*, 2> loads{};
  const ir::Write* write = nullptr;
};

bool is_arg(const ir::Arg& arg, const std::string& name) {
  const auto* value = std::get_if<std::string>(&arg);
  return value != nullptr && *value == name;
}

/// Reads a sum's body: load, load, multiply, add to the accumulator. Returns false if the body has another form.
bool read_sum(const ir::Body& body, Parts& parts, std::string& accumulator) {
  if (body.size() != 4) return false;
  parts.loads = {body[0].as<ir::Load>(), body[1].as<ir::Load>()};
  const auto* product = body[2].as<ir::Assign>();
  const auto* sum = body[3].as<ir::Accum>();
  if (!parts.loads[0] || !parts.loads[1] || !product || !sum) return false;
  if (product->op != ir::Op::multiply || sum->op != ir::Op::add || !is_arg(sum->args.at(0), product->dst)) return false;
  const std::string &x = parts.loads[0]->dst, &y = parts.loads[1]->dst;
  const auto& args = product->args;
  accumulator = sum->dst;
  return (is_arg(args.at(0), x) && is_arg(args.at(1), y)) || (is_arg(args.at(0), y) && is_arg(args.at(1), x));
}

std::optional<Parts> read_parts(const ir::Program& loop) {
  Parts parts;
  const ir::Body* body = &loop.body;
  while (body->size() == 1) {
    const auto* nest = body->front().as<ir::Loop>();
    if (nest == nullptr || nest->axis.bind != ir::Bind::free) return std::nullopt;
    parts.free.push_back(nest->axis);
    body = &nest->body;
  }
  if (body->size() != 2) return std::nullopt;
  const auto* sum = body->front().as<ir::Loop>();
  parts.write = body->back().as<ir::Write>();
  if (sum == nullptr || sum->axis.bind != ir::Bind::reduce || parts.write == nullptr) return std::nullopt;
  parts.sum = sum->axis;
  std::string accumulator;
  if (!read_sum(sum->body, parts, accumulator)) return std::nullopt;
  if (!is_arg(parts.write->value, accumulator) || parts.write->mode != ir::WriteMode::assign) return std::nullopt;
  return parts;
}

/// An access to a buffer. `steps`: by how many elements the address moves per step of each axis.
struct Access {
  std::size_t buffer = 0;
  std::vector<std::int64_t> steps;
};

/// Returns nullopt if the address is not an affine function of the axes that starts at 0.
std::optional<Access> read_access(const ir::Program& loop, const std::string& name, const std::vector<ir::Expr>& index,
                                  const std::vector<ir::Axis>& axes) {
  const ir::Buffer* buffer = loop.find(name);
  if (buffer == nullptr || index.size() != buffer->strides.size()) return std::nullopt;
  ir::Expr offset = 0;
  ir::Substitution zero;
  for (std::size_t d = 0; d < index.size(); ++d) offset = offset + index[d] * ir::Expr(buffer->strides[d]);
  Access access{static_cast<std::size_t>(buffer - loop.buffers.data()), {}};
  for (const ir::Axis& axis : axes) {
    const auto step = ir::coefficient(ir::simplify(offset), axis.name);
    if (!step) return std::nullopt;
    access.steps.push_back(*step);
    zero.emplace_back(axis.name, ir::Expr(0));
  }
  if (!ir::simplify(ir::substitute(offset, zero)).is_constant(0)) return std::nullopt;
  return access;
}

/// Finds the axes m and n (which the output shares with one operand) and the batch axis (shared with both operands). A
/// matmul has at most one axis of each kind.
class Shaper {
 public:
  Shaper(std::vector<ir::Axis> axes, Access a, Access b, Access c)
      : axes_(std::move(axes)), a_(std::move(a)), b_(std::move(b)), c_(std::move(c)) {}

  std::optional<MatmulShape> shape() {
    const std::size_t sum = axes_.size() - 1;
    std::optional<std::size_t> m, n, batch;
    for (std::size_t i = 0; i < sum; ++i) {
      if (axes_[i].extent == 1) continue;
      const bool in_a = a_.steps[i] != 0, in_b = b_.steps[i] != 0;
      std::optional<std::size_t>& kind = in_a && in_b ? batch : in_a ? m : n;
      if (kind || (!in_a && !in_b)) return std::nullopt;
      kind = i;
    }
    // The operand that moves along the output's rows becomes the second operand, whatever the order of the product's
    // factors.
    if ((n && c_.steps[*n] != 1) || (!n && m && c_.steps[*m] == 1)) {
      std::swap(a_, b_);
      std::swap(m, n);
    }
    return dense(m, n, batch, sum);
  }

 private:
  bool steps(const Access& access, std::optional<std::size_t> axis, std::int64_t step) const {
    return !axis || access.steps[*axis] == step;
  }

  std::optional<MatmulShape> dense(std::optional<std::size_t> m, std::optional<std::size_t> n,
                                   std::optional<std::size_t> batch, std::size_t k) const {
    const auto extent = [&](std::optional<std::size_t> axis) { return axis ? axes_[*axis].extent : 1; };
    MatmulShape s{extent(m), extent(n), extent(k), extent(batch), false, a_.buffer, b_.buffer, c_.buffer};
    s.b_transposed = b_.steps[k] == 1 && s.n > 1 && s.k > 1;
    const bool b_dense = s.b_transposed ? steps(b_, n, s.k) : (s.k == 1 || b_.steps[k] == s.n) && steps(b_, n, 1);
    const bool a_dense = (s.k == 1 || a_.steps[k] == 1) && steps(a_, m, s.k);
    const bool c_dense = steps(c_, n, 1) && steps(c_, m, s.n);
    const bool batch_dense = steps(a_, batch, s.m * s.k) && steps(b_, batch, s.k * s.n) && steps(c_, batch, s.m * s.n);
    if (a_dense && b_dense && c_dense && batch_dense) return s;
    return std::nullopt;
  }

  std::vector<ir::Axis> axes_;  // the axis of the sum is last
  Access a_, b_, c_;
};

}  // namespace

std::optional<MatmulShape> matmul_shape(const ir::Program& loop) {
  const auto parts = read_parts(loop);
  if (!parts) return std::nullopt;
  std::vector<ir::Axis> axes = parts->free;
  axes.push_back(parts->sum);
  auto a = read_access(loop, parts->loads[0]->buffer, parts->loads[0]->index, axes);
  auto b = read_access(loop, parts->loads[1]->buffer, parts->loads[1]->index, axes);
  auto c = read_access(loop, parts->write->buffer, parts->write->index, axes);
  if (!a || !b || !c) return std::nullopt;
  const auto type = [&](const std::optional<Access>& access) { return loop.buffers[access->buffer].dtype; };
  const ir::DType factors = type(a), result = type(c);
  if (!ir::is_float(factors) || type(b) != factors || (result != ir::DType::f32 && result != factors))
    return std::nullopt;
  auto shape = Shaper(std::move(axes), std::move(*a), std::move(*b), std::move(*c)).shape();
  if (shape) shape->factors = factors, shape->result = result;
  return shape;
}

}  // namespace deplo::measure
