// Materializing a Combine: partial accumulators of registers, lanes and threads become one.
#include <algorithm>

#include "rules/cost/resources.h"
#include "rules/materialize/materialize.h"

namespace deplo::rules {

// `shared`: the threads along it merge; `prefix`: the others, each with a merge of its own.
struct Materializer::Group {
  const ir::Axis* shared = nullptr;
  std::vector<ir::Expr> prefix;
  std::vector<std::int64_t> shape;
};

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

std::string Materializer::combine_threads(const ir::Combine& combine, const std::string& partial, ir::Body& to) {
  const Merge merge = thread_merge(*tile_, combine, target_);
  if (merge.axis == nullptr || merge.axis->extent == 1) return partial;
  Group group = {merge.axis, {}, {}};
  for (const ir::Axis& axis : tile_->axes) {
    if (axis.bind != ir::Bind::thread || &axis == merge.axis) continue;
    group.prefix.push_back(ir::var(axis.name));
    group.shape.push_back(axis.extent);
  }
  return merge.shuffles ? shuffle(combine, group, partial, to) : halve(combine, group, partial, to);
}

std::string Materializer::shared_for(const std::string& partial, std::vector<std::int64_t> shape, ir::DType dtype) {
  std::string buffer = partial + "_smem";
  while (!buffers_.insert(buffer).second) buffer += "_";
  shared_.emplace_back(ir::Smem{buffer, dtype, std::move(shape)});
  return buffer;
}

// The partials of a warp meet in registers; those of the warps in shared memory, from where every thread reads one and
// all meet in registers again: one barrier.
std::string Materializer::shuffle(const ir::Combine& combine, const Group& group, std::string partial, ir::Body& to) {
  const ir::DType dtype = values_.at(combine.acc).dtype;
  const std::int64_t threads = group.shared->extent, width = std::min(threads, target_.warp), warps = threads / width;
  const std::string sum = fresh("v");
  to.emplace_back(ir::WarpShuffle{sum, {dtype, 1}, partial, combine.op, width});
  if (warps == 1) return sum;
  CHECK(warps <= target_.warp);
  std::vector<std::int64_t> shape = group.shape;
  shape.push_back(warps);
  const std::string buffer = shared_for(partial, std::move(shape), dtype);
  const ir::Expr t = ir::var(group.shared->name);
  std::vector<ir::Expr> own = group.prefix, other = group.prefix;
  own.push_back(ir::simplify(t / width, scope_));
  other.push_back(ir::simplify(t % warps, scope_));
  if (!loops_.empty()) to.emplace_back(ir::Sync{});
  ir::If first = {ir::equal(t % width, 0), {}};
  first.then.emplace_back(ir::Write{buffer, own, sum});
  to.emplace_back(std::move(first));
  to.emplace_back(ir::Sync{});
  const std::string one = fresh("in"), total = fresh("v");
  to.emplace_back(ir::Load{one, {dtype, 1}, buffer, other});
  to.emplace_back(ir::WarpShuffle{total, {dtype, 1}, one, combine.op, warps});
  return total;
}

// The partials meet in shared memory and are halved.
std::string Materializer::halve(const ir::Combine& combine, const Group& group, const std::string& partial,
                                ir::Body& to) {
  const ir::DType dtype = values_.at(combine.acc).dtype;
  std::vector<std::int64_t> shape = group.shape;
  shape.push_back(group.shared->extent);
  const std::string buffer = shared_for(partial, std::move(shape), dtype);
  std::vector<ir::Expr> own = group.prefix, first = group.prefix;
  own.push_back(ir::var(group.shared->name));
  first.push_back(0);
  if (!loops_.empty()) to.emplace_back(ir::Sync{});
  to.emplace_back(ir::Write{buffer, own, partial});
  to.emplace_back(ir::Sync{});
  to.emplace_back(ir::TreeHalve{buffer, combine.op, group.shared->extent, group.prefix, ir::var(group.shared->name)});
  std::string total = fresh("acc");
  to.emplace_back(ir::Load{total, {dtype, 1}, buffer, first});
  return total;
}

}  // namespace deplo::rules
