// Materializing what threads do together: the fill of a stage, the merge of partial accumulators.
#include <algorithm>
#include <numeric>

#include "rules/materialize.h"
#include "rules/resources.h"

namespace deplo::rules {
namespace {

// Along this dimension, may the slab reach over the edge of the source?
bool reaches_over(const ir::Expr& origin, std::int64_t extent, std::int64_t shape, const ir::Ranges& scope) {
  const auto range = ir::bounds(origin, scope);
  return !range || range->low < 0 || range->high + extent > shape;
}

// Widest copy that keeps inside the rows of both sides, contiguous and aligned.
int copy_lanes(const ir::Stage& stage, const ir::Buffer& source, const Target& target, const ir::Ranges& scope) {
  const ir::SlabAxis& inner = stage.slab.back();
  const auto last = source.shape.size() - 1;
  if (static_cast<std::size_t>(inner.dim) != last || source.strides[last] != 1) return 1;
  if (reaches_over(stage.origin[last], inner.extent, source.shape[last], scope)) return 1;
  // The rows of the slab start at multiples of the strides of its other dimensions.
  ir::Expr offset = ir::flat_offset(stage.origin, source.strides);
  for (const ir::SlabAxis& axis : stage.slab)
    if (static_cast<std::size_t>(axis.dim) != last)
      offset = offset + ir::var("row" + std::to_string(axis.dim)) * source.strides[static_cast<std::size_t>(axis.dim)];
  for (int lanes = static_cast<int>(target.vector_lanes); lanes > 1; lanes /= 2)
    if (inner.extent % lanes == 0 && aligned(ir::simplify(offset), lanes, target)) return lanes;
  return 1;
}

// Position in the slab of copy number `flat`, the last dimension in units of `lanes`: along the rows of the source,
// whatever the order of the slab.
std::vector<ir::Expr> slab_position(const ir::Stage& stage, const ir::Buffer& source, const ir::Expr& flat, int lanes) {
  std::vector<std::size_t> order(stage.slab.size());
  std::iota(order.begin(), order.end(), 0);
  const auto stride = [&](std::size_t s) { return source.strides[static_cast<std::size_t>(stage.slab[s].dim)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return stride(a) > stride(b); });
  std::vector<ir::Expr> position(stage.slab.size());
  ir::Expr rest = flat;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t s = order[i];
    const std::int64_t steps = stage.slab[s].extent / (s + 1 == stage.slab.size() ? lanes : 1);
    position[s] = i == 0 ? rest : rest % steps;
    rest = rest / steps;
  }
  position.back() = position.back() * lanes;
  return position;
}

}  // namespace

// for flat = thread; flat < copies; flat += threads: stage[position] = source[origin + position], 0 outside the source.
void Materializer::fill(const ir::Stage& stage, ir::Body& to) {
  const ir::Buffer& source = *tile_program_.find(stage.source);
  std::vector<std::int64_t> shape;
  std::int64_t copies = 1;
  for (const ir::SlabAxis& axis : stage.slab) {
    shape.push_back(axis.extent);
    copies *= axis.extent;
  }
  shared_.emplace_back(ir::Smem{stage.buffer, source.dtype, shape});
  const int lanes = copy_lanes(stage, source, target_, scope_);
  const ir::Axis axis = {fresh_axis(), copies / lanes, ir::Bind::free};
  ir::Loop loop = {axis, thread_id(), threads_, 1, {}};
  scope_.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});

  const auto simple = [&](const ir::Expr& e) { return ir::simplify(e, scope_); };
  std::vector<ir::Expr> position = slab_position(stage, source, ir::var(axis.name), lanes), index = stage.origin;
  std::transform(position.begin(), position.end(), position.begin(), simple);
  ir::Expr inside = 1;
  for (std::size_t s = 0; s < stage.slab.size(); ++s) {
    const auto d = static_cast<std::size_t>(stage.slab[s].dim);
    index[d] = simple(index[d] + position[s]);
    if (!reaches_over(stage.origin[d], stage.slab[s].extent, source.shape[d], scope_)) continue;
    const ir::Expr condition = ir::less(index[d], source.shape[d]);
    inside = inside.is_constant(1) ? condition : ir::Expr(ir::ExprOp::land, inside, condition);
  }
  const std::string value = fresh("in");
  ir::Body copy;
  copy.emplace_back(ir::Load{value, {source.dtype, lanes}, stage.source, index});
  copy.emplace_back(ir::Write{stage.buffer, position, value, ir::WriteMode::assign, lanes});
  if (inside.is_constant(1)) {
    loop.body = std::move(copy);
  } else {
    ir::Body zero;
    zero.emplace_back(ir::Write{stage.buffer, position, 0.0, ir::WriteMode::assign, lanes});
    loop.body.emplace_back(ir::If{inside, std::move(copy)});
    loop.body.emplace_back(ir::If{ir::equal(inside, 0), std::move(zero)});
  }
  scope_.pop_back();
  to.emplace_back(std::move(loop));
}

void Materializer::lower(const ir::Combine& combine, ir::Body& to) {
  const Copies partial = values_.at(combine.acc);
  Dependence over;
  for (const std::string& axis : combine.over)
    if (const auto found = axes_.find(axis); found != axes_.end()) over |= found->second;
  const Dependence left = {partial.on.reg & ~over.reg, partial.on.vector && !over.vector};
  Copies total = {left, partial.dtype, std::vector<std::string>(count(left))};
  for (const Instance& instance : instances(partial.on)) {
    std::string name = partial.names[position(partial.on, instance)];
    if (partial.on.vector && over.vector) {
      const std::string sum = fresh("v");
      to.emplace_back(ir::Assign{sum, {partial.dtype, 1}, *ir::horizontal(combine.op), {name}});
      name = sum;
    }
    std::string& slot = total.names[position(left, instance)];
    if (!slot.empty()) {
      const std::string sum = fresh("v");
      to.emplace_back(ir::Assign{sum, type(partial.dtype, left), combine.op, {slot, name}});
      name = sum;
    }
    slot = name;
  }
  values_[combine.acc] = total;
  for (std::string& name : values_[combine.acc].names) name = combine_threads(combine, name, to);
}

// The partials meet in shared memory and are halved; returns the name of the total.
std::string Materializer::combine_threads(const ir::Combine& combine, const std::string& partial, ir::Body& to) {
  std::vector<ir::Expr> prefix;  // threads that the merge keeps apart
  std::vector<std::int64_t> shape;
  const ir::Axis* shared = nullptr;
  for (const ir::Axis& axis : tile_->axes) {
    if (axis.bind != ir::Bind::thread) continue;
    if (std::find(combine.over.begin(), combine.over.end(), axis.name) != combine.over.end()) {
      CHECK(shared == nullptr);
      shared = &axis;
      continue;
    }
    prefix.push_back(ir::var(axis.name));
    shape.push_back(axis.extent);
  }
  if (shared == nullptr || shared->extent == 1) return partial;
  shape.push_back(shared->extent);
  std::string buffer = partial + "_smem";
  while (!buffers_.insert(buffer).second) buffer += "_";
  const ir::DType dtype = values_.at(combine.acc).dtype;
  shared_.emplace_back(ir::Smem{buffer, dtype, shape});
  std::vector<ir::Expr> own = prefix, first = prefix;
  own.push_back(ir::var(shared->name));
  first.push_back(0);
  if (depth_ > 0) to.emplace_back(ir::Sync{});
  to.emplace_back(ir::Write{buffer, own, partial});
  to.emplace_back(ir::Sync{});
  to.emplace_back(ir::TreeHalve{buffer, combine.op, shared->extent, prefix, ir::var(shared->name)});
  std::string total = fresh("acc");
  to.emplace_back(ir::Load{total, {dtype, 1}, buffer, first});
  return total;
}

}  // namespace deplo::rules
