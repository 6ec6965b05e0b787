// The statements of Tile IR: the launch, stages, waits for stages, and combinations.
#include <algorithm>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/mapped.h"
#include "ir/hardware/stage_layout.h"
#include "ir/interpret/statements/statements.h"

namespace deplo::ir::exec {
namespace {

// A plain copy is followed by a barrier; all other transports stay in flight until an AsyncWait.
struct RunStage {
  int buffer, source;
  std::vector<Index> origin;
  std::vector<SlabAxis> slab;
  std::vector<std::pair<std::size_t, int>> in_origin;  // axes of the slab that the origin names, and their variables
  Transport transport;
  Index slot, when;
  std::int64_t count;  // number of cells in a slot
  bool opens_group;    // the stage is the first of a run that is waited for together
  bool behind_barrier;
  int barrier;  // only for a TMA stage

  void operator()(Machine& m, Mask mask) {
    m.converge(mask);
    if (behind_barrier) m.shared.barrier();
    if (m.lanes.scalar(when) == 0) {
      if (transport != Transport::tma) m.copies.skip_stage(opens_group);
      return;
    }
    const std::int64_t n = m.lanes.scalar(slot);
    const Shared& to = m.shared.buffers[static_cast<std::size_t>(buffer)];
    const std::int64_t slots = std::ssize(to.cells) / count;
    if (n < 0 || n >= slots)
      throw Error("index out of range: slot " + std::to_string(n) + " of " + to.name + ", which has " +
                  std::to_string(slots) + ", at `" + m.lanes.text() + "`");
    const std::int64_t first = n * count;
    fill(m, first);
    if (transport == Transport::copy)
      m.shared.barrier();
    else if (transport == Transport::tma)
      m.copies.start_stage(buffer, first, count, barrier, n);
    else
      m.copies.start_stage(buffer, first, count, opens_group);
  }

  // An origin may depend on loaded values, which must be equal in all threads.
  static std::int64_t shared_by_all(Machine& m, const Index& index) {
    const std::int64_t of_first = m.lanes.at(index, 0);
    for (int l = 1; index.varies && l < m.lanes.count; ++l)
      if (m.lanes.at(index, l) != of_first) m.lanes.fail("an origin of another thread", l);
    return of_first;
  }

  std::vector<std::int64_t> corner_at(Machine& m, const std::vector<std::int64_t>& position) const {
    for (const auto& [axis, variable] : in_origin)
      m.lanes.variables[static_cast<std::size_t>(variable)].scalar = position[axis];
    return mapped(origin, [&](const Index& index) { return shared_by_all(m, index); });
  }

  // Elements outside of the source are 0.
  void fill(Machine& m, std::int64_t first) const {
    Shared& to = m.shared.buffers[static_cast<std::size_t>(buffer)];
    const Global& from = m.global.buffers[static_cast<std::size_t>(source)];
    std::vector<std::int64_t> corner, at_source, position(slab.size(), 0);
    bool moved = true;  // true if the position changed along an axis that the origin names
    for (std::int64_t n = first; n < first + count; ++n) {
      std::int64_t offset = 0;
      bool inside = true;
      if (std::exchange(moved, false)) corner = corner_at(m, position);
      at_source = corner;
      for (std::size_t i = 0; i < position.size(); ++i)
        if (slab[i].walks_dimension()) at_source[static_cast<std::size_t>(slab[i].dim)] += position[i];
      for (std::size_t d = 0; d < corner.size(); ++d) {
        inside = inside && at_source[d] >= 0 && at_source[d] < from.shape[d];
        if (inside) offset += at_source[d] * from.strides[d];
      }
      m.shared.fill(to, to.cells[static_cast<std::size_t>(n)], inside ? from.at(offset) : 0,
                    transport != Transport::copy);
      for (std::size_t i = position.size(); i-- > 0;) {
        moved = moved || !slab[i].walks_dimension();
        if (++position[i] < slab[i].extent) break;
        position[i] = 0;
      }
    }
  }
};

struct RunAsyncWait {
  std::int64_t keep;
  Index phase, slot;

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    m.copies.wait_stages(keep);
    if (!m.copies.barriers.empty()) m.copies.wait_stages(m.lanes.scalar(slot), m.lanes.scalar(phase));
    m.shared.barrier();
  }
};

/// The lanes that hold the total along an axis; the other lanes hold no value.
struct Receiver {
  int axis;
  Index position;

  bool is(const Machine& m, int lane) const {
    const Variable& along = m.lanes.variables[static_cast<std::size_t>(axis)];
    return m.lanes.at(position, lane) == (along.varies ? along.lanes[static_cast<std::size_t>(lane)] : along.scalar);
  }
};
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

struct RunCombine {
  std::size_t acc;
  DType dtype;
  Op op;
  bool across_threads;
  std::vector<int> first;  // for each lane: the first lane of its group
  std::optional<Receiver> to;

  void operator()(Machine& m, Mask mask) const {
    if (across_threads) m.barrier(mask);
    double* value = m.lanes.element(acc, 0);
    std::vector<double>& total = m.result;
    std::fill(total.begin(), total.end(), m.arithmetic_of(dtype).constant(*neutral(op)));
    for (std::size_t l = 0; l < total.size(); ++l) {
      double& sum = total[static_cast<std::size_t>(first[l])];
      combine(m.arithmetic, dtype, op, 1, &sum, &sum, value + l);
    }
    for (std::size_t l = 0; l < total.size(); ++l)
      if (mask == nullptr || mask[l] != 0)
        value[l] = !to || to->is(m, static_cast<int>(l)) ? total[static_cast<std::size_t>(first[l])] : nothing;
  }
};

/// Combines over the blocks of a cluster, lane by lane.
struct RunClusterCombine {
  std::size_t acc;
  DType dtype;
  Op op;
  Receiver to;

  void operator()(Machine& m, Mask) {
    const double start = m.arithmetic_of(dtype).constant(*neutral(op));
    std::vector<double> total(static_cast<std::size_t>(m.lanes.count), start);
    m.for_each_block([&](int) {
      combine(m.arithmetic, dtype, op, m.lanes.count, total.data(), total.data(), m.lanes.element(acc, 0));
    });
    m.for_each_block([&](int) {
      for (int l = 0; l < m.lanes.count; ++l)
        m.lanes.element(acc, 0)[l] = to.is(m, l) ? total[static_cast<std::size_t>(l)] : nothing;
      m.shared.cluster_barrier();
    });
  }
};

// True if a barrier must precede the fill: in a loop, unless the loop cycles through several slots. In that case, the
// barrier of the next slot's fill separates reads from the overwrite.
bool is_behind_barrier(const Compiler& c, const Stage& s) {
  return !c.loops.empty() && (s.slots == 1 || c.loops.size() > 1 || !depends_on(s.slot, c.loops.back()));
}

}  // namespace

void compile(Compiler& c, const Tile& s) { c.append(s.body); }

void compile(Compiler& c, const Stage& s) {
  const int source = c.global(s.source);
  if (source < 0) c.fail("nothing defines the buffer " + s.source);
  if (s.slab.empty() || s.slots < 1) c.fail("expected slab axes and slots");
  if (c.shared(s.buffer) < 0) {
    c.declare_shared(s.buffer, s.dtype, logical_shape(s), physical_count(s), alignment(s));
    if (s.transport == Transport::tma) c.declare_barriers(s.buffer, s.slots, 1);
  }
  RunStage run{.buffer = c.shared(s.buffer),
               .source = source,
               .origin = {},
               .slab = s.slab,
               .in_origin = {},
               .transport = s.transport,
               .slot = c.index(s.slot),
               .when = c.index(s.when),
               .count = 1,
               .opens_group = c.opens_group,
               .behind_barrier = is_behind_barrier(c, s),
               .barrier = c.barrier(s.buffer)};
  if (s.transport == Transport::ahead || s.transport == Transport::async) c.opens_group = false;
  for (const SlabAxis& axis : s.slab) run.count *= axis.extent;
  if (c.machine.shared.buffers[static_cast<std::size_t>(run.buffer)].shape != logical_shape(s) ||
      (s.transport == Transport::tma) != (run.barrier >= 0))
    c.fail("expected stages of " + s.buffer + " that agree");
  std::vector<std::pair<std::string, int>> axes;
  for (std::size_t i = 0; i < s.slab.size(); ++i)
    if (!s.slab[i].walks_dimension()) {
      axes.emplace_back(s.slab[i].name, c.variable(false));
      run.in_origin.emplace_back(i, axes.back().second);
    }
  run.origin = c.indices(s.origin, axes);
  if (run.slot.varies || run.when.varies) c.fail("expected a slot and a condition that all threads share");
  if (run.origin.size() != c.machine.global.buffers[static_cast<std::size_t>(source)].shape.size())
    c.fail("expected one origin per dimension of " + s.source);
  for (const SlabAxis& axis : s.slab)
    if (axis.walks_dimension() && (axis.dim < 0 || axis.dim >= std::ssize(run.origin)))
      c.fail("a slab axis walks no dimension");
  c.emit(std::move(run));
}

void compile(Compiler& c, const AsyncWait& s) {
  RunAsyncWait run{s.keep, c.index(s.phase), c.index(s.slot)};
  if (run.phase.varies || run.slot.varies) c.fail("expected a phase and a slot that all threads share");
  c.emit(std::move(run));
}

void compile(Compiler& c, const Combine& s) {
  if (c.tile == nullptr || !neutral(s.op)) c.fail("expected a reduction in a Tile");
  const std::uint64_t depends = c.groups.axes_of(c.statement());
  std::uint64_t over = 0;
  RunCombine run{c.operand(s.acc, 1).value, c.dtype_of(s.acc), s.op, false, {}, std::nullopt};
  if (s.to) run.to = Receiver{c.axis(s.over.front()), c.index(*s.to)};
  for (std::size_t i = 0; i < c.tile->axes.size(); ++i) {
    const Axis& axis = c.tile->axes[i];
    if (std::find(s.over.begin(), s.over.end(), axis.name) == s.over.end()) continue;
    if (axis.bind == Bind::cluster) {
      if (!run.to) c.fail("expected a block that gets the total");
      return c.emit_of_cluster(RunClusterCombine{run.acc, run.dtype, s.op, std::move(*run.to)});
    }
    if (((depends >> i) & 1) != 0) over |= std::uint64_t{1} << i;
    run.across_threads = run.across_threads || axis.bind == Bind::thread;
  }
  run.first = c.groups.first_lanes(over, c.machine.lanes.count);
  c.emit(std::move(run));
}

void compile(Compiler&, const Prefetch&) {}

}  // namespace deplo::ir::exec
