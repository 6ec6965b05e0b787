// The statements of Kernel IR: shared memory, operations of all threads of a block together, asynchronous copies, and
// the barriers that these copies report to.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "ir/hardware/tma.h"
#include "ir/interpret/statements/statements.h"

namespace deplo::ir::exec {
namespace {

int checked_rank(const Machine& m, const Index& block, int lane) {
  const std::int64_t rank = m.lanes.at(block, lane);
  if (rank < 0 || rank >= m.cluster)
    m.lanes.fail("index out of range: block " + std::to_string(rank) + " of a cluster of " + std::to_string(m.cluster),
                 lane);
  return static_cast<int>(rank);
}

struct RunInit {
  std::size_t dst;
  int lanes;
  double value;

  void operator()(Machine& m, Mask mask) const {
    m.products.touch(dst);
    if (m.roundings.kept()) m.roundings[dst] = {};
    for (int w = 0; w < lanes; ++w) {
      double* out = m.lanes.element(dst, w);
      for (int l = 0; l < m.lanes.count; ++l)
        if (is_active(mask, l)) out[l] = value;
    }
  }
};

struct RunTreeHalve {
  Access first;  // indexed by the prefix and tid
  Op op;
  std::int64_t length;

  void operator()(Machine& m, Mask mask) {
    Shared& shared = m.shared.buffers[static_cast<std::size_t>(first.buffer)];
    std::vector<std::int64_t> tid(static_cast<std::size_t>(m.lanes.count));
    m.lanes.evaluate(first.index.back(), tid.data());
    std::vector<std::uint8_t> low(tid.size());  // mask of the threads that take part in a step
    for (std::int64_t s = length / 2; s > 0; s /= 2) {
      for (std::size_t l = 0; l < tid.size(); ++l) low[l] = tid[l] < s ? 1 : 0;
      const Offsets offsets = m.locate(first, low.data());
      for (int l = 0; l < m.lanes.count; ++l) {
        if (low[static_cast<std::size_t>(l)] == 0) continue;
        m.check_range(shared, first.index.size() - 1, tid[static_cast<std::size_t>(l)] + s, 0, l);
        Cell* cell = &shared.cells[static_cast<std::size_t>(offsets[l])];
        const double a = m.shared.read(shared, cell[0], l);
        const double b = m.shared.read(shared, cell[s], l);
        double result = 0;
        combine(m.arithmetic, shared.dtype, op, 1, &result, &a, &b);
        m.shared.write(shared, cell[0], l, result);
      }
      m.barrier(mask);
    }
  }
};

// A butterfly reduction: in each step, a thread takes the value of the thread whose number differs in one bit.
struct RunWarpShuffle {
  std::size_t dst, value;
  DType dtype;
  Op op;
  int length;

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    const int n = m.lanes.count;
    double* out = m.lanes.element(dst, 0);
    std::copy_n(m.lanes.element(value, 0), n, out);
    for (int step = length / 2; step > 0; step /= 2) {
      for (int l = 0; l < n; ++l) m.result[static_cast<std::size_t>(l)] = out[l ^ step];
      combine(m.arithmetic, dtype, op, n, out, out, m.result.data());
    }
  }
};

struct RunClusterLoad {
  Access from;
  Index block;
  std::size_t dst;

  void operator()(Machine& m, Mask mask) {
    const Offsets offsets = m.locate(from, mask);
    for (int l = 0; l < m.lanes.count; ++l) {
      if (!is_active(mask, l)) continue;
      SharedState& of = m.shared_of(checked_rank(m, block, l));
      Shared& shared = of.buffers[static_cast<std::size_t>(from.buffer)];
      for (int w = 0; w < from.lanes; ++w)
        m.lanes.element(dst, w)[l] =
            m.shared.read_afar(of, shared, shared.cells[static_cast<std::size_t>(offsets[l] + w)], l);
    }
  }
};

struct RunCpAsyncCopy {
  Access to, from;
  std::vector<std::int64_t> from_offsets;  // one per lane

  void operator()(Machine& m, Mask mask) {
    const Global& source = m.global.buffers[static_cast<std::size_t>(from.buffer)];
    Shared& target = m.shared.buffers[static_cast<std::size_t>(to.buffer)];
    const Offsets at_source = m.locate(from, mask);
    for (int l = 0; l < m.lanes.count; ++l) from_offsets[static_cast<std::size_t>(l)] = at_source[l];
    const Offsets offsets = m.locate(to, mask);
    const std::int64_t element = target.element_bytes, size = to.lanes * element;
    for (int l = 0; l < m.lanes.count; ++l) {
      if (!is_active(mask, l)) continue;
      const std::int64_t first = from_offsets[static_cast<std::size_t>(l)];
      if (first % to.lanes != 0 || offsets[l] % to.lanes != 0 || target.align % size != 0)
        m.lanes.fail("misaligned cp.async: " + std::to_string(size) + " bytes from byte " +
                         std::to_string(first * element) + " of " + source.name + " to byte " +
                         std::to_string(offsets[l] * element) + " of " + target.name,
                     l);
      for (int w = 0; w < to.lanes; ++w)
        m.shared.start_copy(target, target.cells[static_cast<std::size_t>(offsets[l] + w)], l, source.at(first + w));
      m.copies.start(to.buffer, offsets[l], to.lanes, l);
    }
  }
};

// Returns the mask of the thread that executes a Produce; the first lane represents it.
Mask producer_mask(const Machine& m) {
  thread_local std::vector<std::uint8_t> first;
  first.assign(static_cast<std::size_t>(m.lanes.count), 0);
  first[0] = 1;
  return first.data();
}

template <class F>
void emit_copying(Compiler& c, F run, std::function<bool(Machine&)> ready = {}) {
  if (!c.producing) return c.emit(std::move(run));
  auto step = std::make_shared<ProducerState::Step>();
  step->source = &c.statement();
  step->run = [run](Machine& m) mutable { run(m, producer_mask(m)); };
  step->ready = std::move(ready);
  c.emit([step](Machine& m, Mask) { m.producer.record(step); });
}

struct RunMbarrierArrive {
  int barrier;
  Index slot;
  std::int64_t bytes;
  std::optional<Index> block;  // the block whose barrier is used; nullopt: the executing block

  void operator()(Machine& m, Mask mask) const {
    const Arrival arrival = {m.lanes.rank, m.shared.clock};
    std::vector<std::int64_t> slots(static_cast<std::size_t>(m.lanes.count));
    std::vector<int> ranks(slots.size(), arrival.rank);
    for (int l = 0; l < m.lanes.count; ++l) {
      if (!is_active(mask, l)) continue;
      slots[static_cast<std::size_t>(l)] = m.lanes.at(slot, l);
      if (block) ranks[static_cast<std::size_t>(l)] = checked_rank(m, *block, l);
    }
    const auto arrive = [&](int rank) {
      for (int l = 0; l < m.lanes.count; ++l)
        if (const auto i = static_cast<std::size_t>(l); is_active(mask, l) && ranks[i] == rank)
          m.copies.arrive(barrier, slots[i], bytes, l, arrival);
    };
    block ? m.for_each_block(arrive) : arrive(arrival.rank);
    if (m.shared.producing) return;
    ++m.shared.clock;  // later accesses come after the arrival
    m.producer.pass(m);
  }
};

// Executed by all threads, or by one thread that informs the others by a Sync.
struct RunMbarrierWait {
  int barrier;
  Index slot, phase;

  void operator()(Machine& m, Mask mask) const {
    const bool all = m.lanes.all(mask);
    if (all && !m.shared.producing) {
      const std::int64_t at = m.lanes.at(slot, 0), parity = m.lanes.at(phase, 0);
      m.wait_until([&] { return m.copies.completes(barrier, at, parity); });  // if false, the wait below throws
    }
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l))
        m.copies.wait(barrier, m.lanes.at(slot, l), m.lanes.at(phase, l), l, all ? Cell::several : m.lanes.thread(l));
  }
};

// The destination is contiguous memory that starts where a swizzle pattern starts.
struct RunTmaLoad {
  Access to;
  int source;
  std::vector<std::int64_t> box;
  int swizzle;
  std::vector<Index> coordinates;
  int barrier;
  Index slot;
  bool multicast;

  void operator()(Machine& m, Mask mask) {
    const Offsets offsets = m.locate(to, mask);
    const Shared& target = m.shared.buffers[static_cast<std::size_t>(to.buffer)];
    const std::int64_t element = target.element_bytes, align = swizzle > 0 ? 8 * swizzle : 128;
    const std::int64_t count = element_count(box);
    for (int l = 0; l < m.lanes.count; ++l) {
      if (!is_active(mask, l)) continue;
      if (offsets[l] * element % align != 0 || target.align % align != 0)
        m.lanes.fail("misaligned TMA destination: byte " + std::to_string(offsets[l] * element) + " of " + target.name +
                         " (align " + std::to_string(target.align) + "), expected a multiple of " +
                         std::to_string(align),
                     l);
      if (offsets[l] + count > std::ssize(target.cells))
        m.lanes.fail("index out of range: a box of " + std::to_string(count) + " elements leaves " + target.name, l);
      const std::int64_t number = m.lanes.at(slot, l);
      std::vector<std::int64_t> origin;
      for (const Index& index : coordinates) origin.push_back(m.lanes.at(index, l));
      const int own = m.lanes.rank;
      Clocks seen = m.shared.seen;
      const auto deliver = [&](int rank) {
        Barrier::Slot& phase = m.copies.slot(barrier, number, l, own);
        m.shared.known = seen[rank];
        load_box(m, offsets[l], origin, l);
        phase.flights.push_back({to.buffer, offsets[l], count, l});
        phase.delivered += count * element;
      };
      multicast ? m.for_each_block(deliver) : deliver(own);
    }
  }

  void load_box(Machine& m, std::int64_t first, const std::vector<std::int64_t>& origin, int lane) const {
    const Global& from = m.global.buffers[static_cast<std::size_t>(source)];
    Shared& target = m.shared.buffers[static_cast<std::size_t>(to.buffer)];
    std::vector<std::int64_t> position(box.size(), 0);
    for (std::int64_t n = 0; position[0] < box[0]; ++n) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t i = 0; i < box.size(); ++i) {
        const std::int64_t x = origin[i] + position[i];
        inside = inside && x >= 0 && x < from.shape[i];
        if (inside) offset += x * from.strides[i];
      }
      const std::int64_t byte = tma::swizzled_address(n * target.element_bytes, swizzle);
      Cell& cell = target.cells[static_cast<std::size_t>(first + byte / target.element_bytes)];
      m.shared.check_proxy(target, cell, lane);
      m.shared.start_copy(target, cell, lane, inside ? from.at(offset) : 0);
      for (std::size_t i = position.size(); i-- > 0;) {
        if (++position[i] < box[i] || i == 0) break;
        position[i] = 0;
      }
    }
  }
};

int known_barrier(const Compiler& c, const std::string& name) {
  const int number = c.barrier(name);
  if (number < 0) c.fail("nothing defines the barrier " + name);
  return number;
}

}  // namespace

void compile(Compiler& c, const Smem& s) {
  c.declare_shared(s.buffer, s.dtype, s.shape, s.registers ? 0 : element_count(s.shape), s.align);
  c.machine.shared.buffers.back().of_warps = s.registers;
}

void compile(Compiler& c, const Init& s) {
  const std::optional<double> value = neutral(s.op);
  if (!value) c.fail("expected an operation with a neutral element for " + s.acc);
  const double start = c.machine.arithmetic_of(c.dtype_of(s.acc)).constant(*value);
  c.emit(RunInit{c.define(s.acc, s.type.lanes), s.type.lanes, start});
}

void compile(Compiler& c, const Sync&) {
  c.emit([](Machine& m, Mask mask) { m.barrier(mask); });
}

void compile(Compiler& c, const TreeHalve& s) {
  std::vector<Expr> first = s.prefix;
  first.push_back(s.tid);
  RunTreeHalve run{c.access(s.buffer, first, 1), s.op, s.length};
  if (!run.first.shared) c.fail("expected a shared buffer, found " + s.buffer);
  if (!neutral(s.op)) c.fail("expected an operation that reduces");
  c.emit(std::move(run));
}

void compile(Compiler& c, const WarpShuffle& s) {
  const std::size_t value = c.operand(s.value, 1).value;
  if (s.length < 1 || (s.length & (s.length - 1)) != 0 || c.machine.lanes.count % s.length != 0)
    c.fail("expected a length that is a power of two and divides the number of threads");
  if (!neutral(s.op)) c.fail("expected an operation that reduces");
  c.emit(RunWarpShuffle{c.define(s.dst, 1), value, s.type.dtype, s.op, static_cast<int>(s.length)});
}

void compile(Compiler& c, const ClusterSync&) {
  c.emit_of_cluster([](Machine& m, Mask) { m.for_each_block([&](int) { m.shared.cluster_barrier(); }); });
}

void compile(Compiler& c, const ClusterLoad& s) {
  RunClusterLoad run{c.access(s.buffer, s.index, s.type.lanes), c.index(s.block), 0};
  if (!run.from.shared) c.fail("expected a shared buffer, found " + s.buffer);
  run.dst = c.define(s.dst, s.type.lanes);
  c.emit(std::move(run));
}

void compile(Compiler& c, const CpAsyncCopy& s) {
  RunCpAsyncCopy run{c.access(s.buffer, s.index, s.lanes), c.access(s.source, s.at, s.lanes), {}};
  if (!run.to.shared || run.from.shared) c.fail("expected a copy from global to shared memory");
  const std::int64_t element = c.machine.shared.buffers[static_cast<std::size_t>(run.to.buffer)].element_bytes;
  const Global& from = c.machine.global.buffers[static_cast<std::size_t>(run.from.buffer)];
  const std::int64_t size = s.lanes * element;
  if (size != 4 && size != 8 && size != 16) c.fail("expected 4, 8 or 16 bytes, found " + std::to_string(size));
  if (s.lanes > 1 && from.strides.back() != 1) c.fail("expected a stride of 1 in the last dimension of " + s.source);
  run.from_offsets.resize(static_cast<std::size_t>(c.machine.lanes.count));
  c.emit(std::move(run));
}

void compile(Compiler& c, const CpAsyncCommit&) {
  c.emit([](Machine& m, Mask mask) { m.copies.commit(mask); });
}

void compile(Compiler& c, const CpAsyncWait& s) {
  c.emit([keep = s.keep](Machine& m, Mask mask) { m.copies.wait_groups(keep, mask); });
}

void compile(Compiler& c, const MbarrierInit& s) {
  if (s.slots < 1 || s.slots > 1024 || s.count < 1) c.fail("expected 1 to 1024 barriers and a positive count");
  c.reserve_shared(s.slots * MbarrierInit::object_bytes, MbarrierInit::object_bytes);
  c.declare_barriers(s.barrier, s.slots, s.count);
  c.emit([barrier = c.barrier(s.barrier)](Machine& m, Mask mask) {
    m.converge(mask);
    m.copies.init(barrier);
  });
}

void compile(Compiler& c, const MbarrierArriveExpectTx& s) {
  const int barrier = known_barrier(c, s.barrier);
  emit_copying(c, RunMbarrierArrive{barrier, c.index(s.slot), s.bytes, std::nullopt});
}

void compile(Compiler& c, const MbarrierArrive& s) {
  const int barrier = known_barrier(c, s.barrier);
  RunMbarrierArrive run{barrier, c.index(s.slot), 0, std::nullopt};
  if (s.block) run.block = c.index(*s.block);
  c.emit(std::move(run));
}

void compile(Compiler& c, const Produce& s) {
  c.producing = true;
  Code body = c.code_of(s.body);
  c.producing = false;
  c.emit([body = std::move(body)](Machine& m, Mask mask) mutable {
    m.converge(mask);
    m.execute(body, mask);
    ++m.shared.clock;
    m.producer.pass(m);
  });
}

void compile(Compiler& c, const MbarrierWait& s) {
  const int barrier = known_barrier(c, s.barrier);
  RunMbarrierWait run{barrier, c.index(s.slot), c.index(s.phase)};
  emit_copying(c, run, [run](Machine& m) {
    return m.copies.completes(run.barrier, m.lanes.at(run.slot, 0), m.lanes.at(run.phase, 0));
  });
}

void compile(Compiler& c, const TmaDescriptor& s) {
  const Buffer* source = c.program.find(s.source);
  if (source == nullptr) c.fail("nothing defines the buffer " + s.source);
  if (const std::string fault = tma::fault(s, *source); !fault.empty()) c.fail("wrong TMA box: " + fault);
  c.descriptors.push_back(&s);
}

void compile(Compiler& c, const ProxyFence&) {
  c.emit([](Machine& m, Mask mask) {
    m.converge(mask);
    ++m.shared.fences;
  });
}

void compile(Compiler& c, const TmaLoad& s) {
  Access to = c.access(s.buffer, s.index, 1);
  const auto named = [&](const TmaDescriptor* d) { return d->name == s.descriptor; };
  const auto found = std::find_if(c.descriptors.begin(), c.descriptors.end(), named);
  const int barrier = known_barrier(c, s.barrier);
  Index slot = c.index(s.slot);
  if (!to.shared) c.fail("expected a shared buffer, found " + s.buffer);
  if (found == c.descriptors.end()) c.fail("nothing defines the descriptor " + s.descriptor);
  const TmaDescriptor& d = **found;
  if (s.coordinates.size() != d.box.size())
    c.fail("wrong TMA box: " + std::to_string(std::ssize(d.box)) + " dimensions, found " +
           std::to_string(std::ssize(s.coordinates)) + " coordinates");
  if (c.machine.shared.buffers[static_cast<std::size_t>(to.buffer)].element_bytes !=
      bytes(c.program.find(d.source)->dtype))
    c.fail("expected elements of one size in " + s.buffer + " and its source");
  std::vector<Index> coordinates;
  for (const Expr& e : s.coordinates) coordinates.push_back(c.index(e));
  emit_copying(c, RunTmaLoad{std::move(to), c.global(d.source), d.box, d.swizzle, std::move(coordinates), barrier,
                             std::move(slot), s.multicast});
}

}  // namespace deplo::ir::exec
