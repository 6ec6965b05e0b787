#include "rules/materialize/combine_lowering.h"

#include <algorithm>

#include "rules/cost/resources.h"

namespace deplo::rules::materializer {
namespace {

/// Merges one partial of each thread along `merged`, separately for each combination of threads along the other axes.
class ThreadMerge {
 public:
  ThreadMerge(KernelBuilder& kernel, const ir::Axis& merged, ir::Op op, ir::DType dtype)
      : kernel_(kernel), merged_(merged), op_(op), dtype_(dtype) {
    for (const ir::Axis& axis : kernel.tile.axes) {
      if (axis.bind != ir::Bind::thread || &axis == &merged) continue;
      prefix_.push_back(ir::var(axis.name));
      shape_.push_back(axis.extent);
    }
  }

  // The partials of a warp are merged in registers. The results of the warps go to shared memory, from which every
  // thread reads one, and are merged in registers again. This takes one barrier.
  std::string shuffle(const std::string& partial, ir::Body& to) {
    const std::int64_t threads = merged_.extent, width = std::min(threads, kernel_.target.warp),
                       warps = threads / width;
    std::string sum = kernel_.fresh("v");
    to.emplace_back(ir::WarpShuffle{sum, {dtype_, 1}, partial, op_, width});
    if (warps == 1) return sum;
    CHECK(warps <= kernel_.target.warp);
    const std::string buffer = declare_shared(partial, warps);
    const ir::Expr thread = ir::var(merged_.name);
    if (!kernel_.loops.empty()) to.emplace_back(ir::Sync{});
    ir::Write write = {buffer, index(ir::simplify(thread / width, kernel_.scope)), sum};
    to.emplace_back(ir::If{ir::equal(thread % width, 0), ir::single(std::move(write))});
    to.emplace_back(ir::Sync{});
    const std::string one = kernel_.fresh("in");
    std::string total = kernel_.fresh("v");
    to.emplace_back(ir::Load{one, {dtype_, 1}, buffer, index(ir::simplify(thread % warps, kernel_.scope))});
    to.emplace_back(ir::WarpShuffle{total, {dtype_, 1}, one, op_, warps});
    return total;
  }

  // Writes the partials to shared memory, and merges them by halving.
  std::string halve(const std::string& partial, ir::Body& to) {
    const std::string buffer = declare_shared(partial, merged_.extent);
    const ir::Expr thread = ir::var(merged_.name);
    if (!kernel_.loops.empty()) to.emplace_back(ir::Sync{});
    to.emplace_back(ir::Write{buffer, index(thread), partial});
    to.emplace_back(ir::Sync{});
    to.emplace_back(ir::TreeHalve{buffer, op_, merged_.extent, prefix_, thread});
    std::string total = kernel_.fresh("acc");
    to.emplace_back(ir::Load{total, {dtype_, 1}, buffer, index(0)});
    return total;
  }

 private:
  std::string declare_shared(const std::string& partial, std::int64_t extent) {
    std::string buffer = partial + "_smem";
    while (!kernel_.reserve(buffer)) buffer += "_";
    std::vector<std::int64_t> shape = shape_;
    shape.push_back(extent);
    kernel_.shared.emplace_back(ir::Smem{buffer, dtype_, std::move(shape)});
    return buffer;
  }

  std::vector<ir::Expr> index(const ir::Expr& last) const {
    std::vector<ir::Expr> result = prefix_;
    result.push_back(last);
    return result;
  }

  KernelBuilder& kernel_;
  const ir::Axis& merged_;
  ir::Op op_;
  ir::DType dtype_;
  std::vector<ir::Expr> prefix_;  // first indices into the shared memory: one per other axis
  std::vector<std::int64_t> shape_;
};

// Merges the registers and lanes over which the accumulator is combined. Returns the remaining instances.
Copies combine_registers(const ir::Combine& combine, KernelBuilder& kernel, const Replication& replication,
                         ir::Body& to) {
  const Copies& partial = replication.copies(combine.acc);
  Dependence over;
  for (const std::string& axis : combine.over) over |= replication.of_axis(axis);
  const Dependence left = {partial.on.reg & ~over.reg, partial.on.vector && !over.vector};
  Copies total = replication.unnamed(left, partial.dtype);
  for (const Instance& instance : replication.instances(partial.on)) {
    std::string name = replication.name(partial, instance);
    if (partial.on.vector && over.vector) {
      const std::string sum = kernel.fresh("v");
      to.emplace_back(ir::Assign{sum, {partial.dtype, 1}, *ir::horizontal(combine.op), {name}});
      name = sum;
    }
    std::string& slot = replication.name(total, instance);
    if (!slot.empty()) {
      const std::string sum = kernel.fresh("v");
      to.emplace_back(ir::Assign{sum, replication.type(partial.dtype, left), combine.op, {slot, name}});
      name = sum;
    }
    slot = name;
  }
  return total;
}

}  // namespace

void lower_combine(const ir::Combine& combine, KernelBuilder& kernel, Replication& replication, ir::Body& to) {
  Copies total = combine_registers(combine, kernel, replication, to);
  const Merge merge = thread_merge(kernel.tile, combine, kernel.target);
  if (merge.axis != nullptr && merge.axis->extent > 1) {
    ThreadMerge threads(kernel, *merge.axis, combine.op, total.dtype);
    for (std::string& name : total.names) name = merge.shuffles ? threads.shuffle(name, to) : threads.halve(name, to);
  }
  replication.set_copies(combine.acc, std::move(total));
}

}  // namespace deplo::rules::materializer
