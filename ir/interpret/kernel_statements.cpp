// The statements of Kernel IR: shared memory, what the threads of a block do together, asynchronous copies and the
// barriers that they report to.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "ir/float16.h"
#include "ir/interpret/statements.h"
#include "ir/mma.h"
#include "ir/tma.h"

namespace deplo::ir::exec {
namespace {

bool is_active(Mask mask, int lane) { return mask == nullptr || mask[lane] != 0; }

struct RunInit {
  std::size_t dst;
  int lanes;
  double value;

  void operator()(Machine& m, Mask mask) const {
    if (m.roundings.kept()) m.roundings[dst] = {};
    for (int w = 0; w < lanes; ++w) {
      double* out = m.lanes.element(dst, w);
      for (int l = 0; l < m.lanes.count; ++l)
        if (is_active(mask, l)) out[l] = value;
    }
  }
};

struct RunTreeHalve {
  Access first;  // the prefix and tid
  Op op;
  std::int64_t length;

  void operator()(Machine& m, Mask mask) {
    Shared& shared = m.shared.buffers[static_cast<std::size_t>(first.buffer)];
    std::vector<std::int64_t> tid(static_cast<std::size_t>(m.lanes.count));
    m.lanes.evaluate(first.index.back(), tid.data());
    std::vector<std::uint8_t> low(tid.size());  // the threads that take part in a step
    for (std::int64_t s = length / 2; s > 0; s /= 2) {
      for (std::size_t l = 0; l < tid.size(); ++l) low[l] = tid[l] < s ? 1 : 0;
      const Offsets offsets = m.locate(first, low.data());
      for (int l = 0; l < m.lanes.count; ++l) {
        if (low[static_cast<std::size_t>(l)] == 0) continue;
        m.check_range(shared, first.index.size() - 1, tid[static_cast<std::size_t>(l)] + s, 0, l);
        Cell* cell = &shared.cells[static_cast<std::size_t>(offsets[l])];
        const double a = m.shared.read(shared, cell[0], l);
        const double b = m.shared.read(shared, cell[s], l);
        m.shared.write(shared, cell[0], l, ir::apply(op, std::array{a, b}));
      }
      m.barrier(mask);
    }
  }
};

// A butterfly: in each step a thread takes the value of the one whose number differs in one bit.
struct RunWarpShuffle {
  std::size_t dst, value;
  Op op;
  int length;

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    const int n = m.lanes.count;
    double* out = m.lanes.element(dst, 0);
    std::copy_n(m.lanes.element(value, 0), n, out);
    for (int step = length / 2; step > 0; step /= 2) {
      for (int l = 0; l < n; ++l) m.result[static_cast<std::size_t>(l)] = out[l ^ step];
      apply_lanes(op, n, out, out, m.result.data());
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
      const std::int64_t rank = m.lanes.at(block, l);
      if (rank < 0 || rank >= m.cluster)
        m.lanes.fail(
            "index out of range: block " + std::to_string(rank) + " of a cluster of " + std::to_string(m.cluster), l);
      SharedState& of = m.shared_of(static_cast<int>(rank));
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
        m.shared.start_copy(target, target.cells[static_cast<std::size_t>(offsets[l] + w)], l,
                            source.data[static_cast<std::size_t>(first + w)]);
      m.copies.start(to.buffer, offsets[l], to.lanes, l);
    }
  }
};

struct RunMbarrierArrive {
  int barrier;
  Index slot;
  std::int64_t bytes;

  void operator()(Machine& m, Mask mask) const {
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l)) m.copies.arrive(barrier, m.lanes.at(slot, l), bytes, l);
  }
};

// All threads or one that tells the others by a Sync.
struct RunMbarrierWait {
  int barrier;
  Index slot, phase;

  void operator()(Machine& m, Mask mask) const {
    const bool all = m.lanes.all(mask);
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l))
        m.copies.wait(barrier, m.lanes.at(slot, l), m.lanes.at(phase, l), l, all ? Cell::several : m.lanes.thread(l));
  }
};

// The destination is one run of memory that starts where the pattern does.
struct RunTmaLoad {
  Access to;
  int source;
  std::vector<std::int64_t> box;
  int swizzle;
  std::vector<Index> coordinates;
  int barrier;
  Index slot;

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
      Barrier::Slot& phase = m.copies.slot(barrier, m.lanes.at(slot, l), l);
      load_box(m, offsets[l], l);
      phase.flights.push_back({to.buffer, offsets[l], count, l});
      phase.delivered += count * element;
    }
  }

  void load_box(Machine& m, std::int64_t first, int lane) const {
    const Global& from = m.global.buffers[static_cast<std::size_t>(source)];
    Shared& target = m.shared.buffers[static_cast<std::size_t>(to.buffer)];
    std::vector<std::int64_t> origin, position(box.size(), 0);
    for (const Index& index : coordinates) origin.push_back(m.lanes.at(index, lane));
    for (std::int64_t n = 0; position[0] < box[0]; ++n) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t i = 0; i < box.size(); ++i) {
        const std::int64_t x = origin[i] + position[i];
        inside = inside && x >= 0 && x < from.shape[i];
        if (inside) offset += x * from.strides[i];
      }
      const std::int64_t byte = tma::swizzled_address(n * target.element_bytes, swizzle);
      m.shared.start_copy(target, target.cells[static_cast<std::size_t>(first + byte / target.element_bytes)], lane,
                          inside ? from.data[static_cast<std::size_t>(offset)] : 0);
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
  c.declare_shared(s.buffer, s.dtype, s.shape, element_count(s.shape), s.align);
}

void compile(Compiler& c, const Init& s) {
  const std::optional<double> value = neutral(s.op);
  if (!value) c.fail("expected an operation with a neutral element for " + s.acc);
  c.emit(RunInit{c.define(s.acc, s.type.lanes), s.type.lanes, *value});
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

namespace {

constexpr int warp_lanes = 32, matrix_rows = 8;

/// Each thread reads the row that it names; then the warp deals out the elements.
struct RunLdMatrix {
  Access from;
  std::size_t dst;
  int matrices, packed;  // elements of a register
  bool transposed;

  void operator()(Machine& m, Mask mask) {
    m.converge(mask);
    const Offsets offsets = m.locate(from, mask);
    Shared& shared = m.shared.buffers[static_cast<std::size_t>(from.buffer)];
    for (int warp = 0; warp < m.lanes.count; warp += warp_lanes) {
      double element[4][matrix_rows][8];
      for (int j = 0; j < matrices; ++j)
        for (int row = 0; row < matrix_rows; ++row) {
          const int lane = warp + j * matrix_rows + row;
          const std::int64_t at = offsets[lane];
          if (at % from.lanes != 0)
            m.lanes.fail("misaligned row of a matrix at element " + std::to_string(at) + " of " + shared.name, lane);
          for (int column = 0; column < from.lanes; ++column)
            element[j][row][column] = m.shared.read(shared, shared.cells[static_cast<std::size_t>(at + column)], lane);
        }
      for (int lane = 0; lane < warp_lanes; ++lane)
        for (int w = 0; w < packed * matrices; ++w) {
          const int j = w / packed, along = lane / 4, k = lane % 4 * packed + w % packed;
          m.lanes.element(dst, w)[warp + lane] = transposed ? element[j][k][along] : element[j][along][k];
        }
    }
  }
};

/// Collects the fragments of a warp's threads, multiplies, and deals the sums out again.
struct RunMma {
  const mma::Atom* atom;
  std::vector<Operand> sums;
  std::size_t a, b;
  int part;

  /// Of a register's element. The instruction does not say what it makes of the other bits of an f32.
  double operand(Machine& m, std::size_t value, int w, int lane) const {
    const double element = m.lanes.element(value, w)[lane];
    if (atom->operands == mma::Operands::tf32 && std::isfinite(element) && element != rounded_tf32(element))
      m.lanes.fail("an operand of " + std::string(atom->name) + " that is not rounded: " + std::to_string(element),
                   lane);
    return element;
  }

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    const auto packed = static_cast<int>(atom->packed()), depth = static_cast<int>(atom->depth());
    const auto k_of = [&](int matrix, int w, int t) { return matrix * depth + t * packed + w % packed; };
    for (int warp = 0; warp < m.lanes.count; warp += warp_lanes) {
      double left[16][16], right[16][8];
      for (int lane = 0; lane < warp_lanes; ++lane) {
        const int g = lane / 4, t = lane % 4;
        for (int w = 0; w < packed * atom->a_matrices(); ++w) {  // rows g and 8 + g, and this along k
          const int matrix = w / packed;
          left[g + matrix % 2 * 8][k_of(matrix / 2, w, t)] = operand(m, a, w, warp + lane);
        }
        for (int w = 0; w < packed * atom->b_matrices(); ++w)
          right[k_of(w / packed, w, t)][g] = operand(m, b, packed * part + w, warp + lane);
      }
      for (int lane = 0; lane < warp_lanes; ++lane)
        for (std::size_t r = 0; r < 2; ++r)
          for (std::size_t v = 0; v < 2; ++v) {
            const bool vectors = sums.size() == 2;
            const Operand& of = sums[vectors ? r : 2 * r + v];
            double& sum = m.lanes.element(of.value, vectors ? static_cast<int>(v) : 0)[warp + lane];
            const auto row = static_cast<std::size_t>(lane / 4) + 8 * r,
                       column = static_cast<std::size_t>(lane % 4) * 2 + v;
            for (std::size_t k = 0; k < static_cast<std::size_t>(atom->k); ++k) sum += left[row][k] * right[k][column];
          }
    }
  }
};

void check_warps(Compiler& c) {
  if (c.machine.lanes.count % warp_lanes != 0) c.fail("expected whole warps of threads");
}

}  // namespace

void compile(Compiler& c, const LdMatrix& s) {
  check_warps(c);
  const int packed = is_float16(s.type.dtype) ? 2 : 1, matrices = s.type.lanes / packed;
  if (s.transposed && packed == 1) c.fail("expected matrices of 16 bits to transpose");
  if (matrices < 1 || matrices > 4 || s.type.lanes % packed != 0) c.fail("expected one, two or four matrices");
  RunLdMatrix run{c.access(s.buffer, s.index, 4 * packed), 0, matrices, packed, s.transposed};
  if (!run.from.shared) c.fail("expected a shared buffer, found " + s.buffer);
  run.dst = c.define(s.dst, s.type.lanes);
  c.emit(std::move(run));
}

void compile(Compiler& c, const Mma& s) {
  check_warps(c);
  const Operand a = c.operand(s.a, 0), b = c.operand(s.b, 0);
  const mma::Atom* atom = mma::find_atom(s.atom);
  if (atom == nullptr) c.fail("expected a matrix instruction, found " + s.atom);
  if (a.lanes != atom->packed() * atom->a_matrices() || s.part < 0 ||
      b.lanes < atom->packed() * (s.part + atom->b_matrices()))
    c.fail("expected the matrices of " + s.atom);
  RunMma run{atom, {}, a.value, b.value, static_cast<int>(s.part)};
  for (const std::string& sum : s.sums) run.sums.push_back(c.operand(sum, 0));
  const bool vectors = run.sums.size() == 2;
  if (!vectors && run.sums.size() != 4) c.fail("expected two or four accumulators");
  for (const Operand& sum : run.sums)
    if (sum.lanes != (vectors ? 2 : 1)) c.fail("expected accumulators of two lanes, or four of one");
  c.emit(std::move(run));
}

void compile(Compiler& c, const WarpShuffle& s) {
  const std::size_t value = c.operand(s.value, 1).value;
  if (s.length < 1 || (s.length & (s.length - 1)) != 0 || c.machine.lanes.count % s.length != 0)
    c.fail("expected a length that is a power of two and divides the number of threads");
  if (!neutral(s.op)) c.fail("expected an operation that reduces");
  c.emit(RunWarpShuffle{c.define(s.dst, 1), value, s.op, static_cast<int>(s.length)});
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
  constexpr std::int64_t object = 8;  // bytes: PTX ISA, "mbarrier object"
  if (s.slots < 1 || s.slots > 1024 || s.count < 1) c.fail("expected 1 to 1024 barriers and a positive count");
  c.reserve_shared(s.slots * object, object);
  c.declare_barriers(s.barrier, s.slots, s.count);
  c.emit([barrier = c.barrier(s.barrier)](Machine& m, Mask mask) {
    m.converge(mask);
    m.copies.init(barrier);
  });
}

void compile(Compiler& c, const MbarrierArriveExpectTx& s) {
  const int barrier = known_barrier(c, s.barrier);
  c.emit(RunMbarrierArrive{barrier, c.index(s.slot), s.bytes});
}

void compile(Compiler& c, const MbarrierWait& s) {
  const int barrier = known_barrier(c, s.barrier);
  Index slot = c.index(s.slot);
  c.emit(RunMbarrierWait{barrier, std::move(slot), c.index(s.phase)});
}

void compile(Compiler& c, const TmaDescriptor& s) {
  const Buffer* source = c.program.find(s.source);
  if (source == nullptr) c.fail("nothing defines the buffer " + s.source);
  if (const std::string fault = tma::fault(s, *source); !fault.empty()) c.fail("wrong TMA box: " + fault);
  c.descriptors.push_back(&s);
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
  c.emit(RunTmaLoad{std::move(to), c.global(d.source), d.box, d.swizzle, std::move(coordinates), barrier,
                    std::move(slot)});
}

}  // namespace deplo::ir::exec
