// Checks the statements of Kernel IR: shared memory, statements that the threads of a block execute together,
// asynchronous copies, and the barriers that copies report to.
#include <algorithm>
#include <bit>
#include <utility>

#include "ir/hardware/gpu.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/hardware/tma.h"
#include "ir/types/float16.h"
#include "ir/verify/checks.h"
#include "ir/verify/operands.h"
#include "ir/verify/violation.h"
#include "ir/walk.h"

namespace deplo::ir::verifier {
namespace {

// PTX ISA, "Contents of the mbarrier object": bytes in flight are counted in 20 bits.
constexpr std::int64_t max_transaction = (std::int64_t{1} << 20) - 1;

void check_barrier(Context& c, const std::string& text, const Expr& slot) {
  const Name* barrier = c.names.find(text);
  if (barrier == nullptr || barrier->kind != Name::Kind::barrier) fail("`{}` is not a barrier before this", text);
  c.index.in_range(slot, barrier->extents[0]);
}

void check_warpgroups(const Context& c) {
  if (c.threads % mma::warpgroup != 0) fail("{} threads are not a multiple of a warpgroup", c.threads);
  check_convergent(c);
}

// Checks that the sums are distinct accumulators with `lanes` lanes each. 0: any number of lanes.
void check_sums(Context& c, const std::vector<std::string>& sums, int lanes) {
  check_warpgroups(c);
  for (const std::string& sum : sums) {
    if (std::ranges::count(sums, sum) > 1) fail("`{}` is named twice", sum);
    check_accumulator(c, sum, {DType::f32, lanes > 0 ? lanes : c.names.use(sum).type.lanes}, Op::add);
  }
}

// Checks that the whole matrix, rows x k elements, lies in the buffer, and that the buffer's rows are as wide as the
// swizzle pattern. Returns the type of its elements.
DType check_matrix(Context& c, const SharedMatrix& m, std::int64_t rows, std::int64_t k) {
  const Name& buffer = check_shared_access(c, m.buffer, m.index, 1);
  const DType dtype = buffer.type.dtype;
  if (!is_float16(dtype)) fail("`{}` holds {}, not a 16-bit type", m.buffer, name(dtype));
  if (!tma::is_pattern(m.swizzle)) fail("a swizzle of {}, not 32, 64 or 128 bytes", m.swizzle);
  const std::int64_t panel = m.swizzle / bytes(dtype);
  if (buffer.extents.back() != panel)
    fail("rows of {} elements do not match a swizzle of {} bytes", buffer.extents.back(), m.swizzle);
  // PTX ISA, "Matrix Descriptor Format": 14 bits, in units of 16 bytes.
  constexpr std::int64_t max_leading = (std::int64_t{1} << 18) - 16;
  if (m.leading < 0 || m.leading % 16 != 0 || m.leading > max_leading)
    fail("leading={}, not a multiple of 16 up to {}", m.leading, max_leading);
  if (m.transposed && rows > panel && m.leading == 0)
    fail("{} columns span several panels of {}, but leading is 0", rows, panel);
  std::vector<std::int64_t> strides = row_major_strides(buffer.extents);
  const std::int64_t last = m.transposed
                                ? (rows - 1) / panel * (m.leading / bytes(dtype)) + (k - 1) * panel + (rows - 1) % panel
                                : (rows - 1) * panel + k - 1;
  if (c.index.evaluate(flat_offset(m.index, strides)).range.high + last >= element_count(buffer.extents))
    fail("the matrix reaches beyond the end of `{}`", m.buffer);
  return dtype;
}

// Checks a thread's part of operand a of a warpgroup's product, which has 64 x 16 elements (PTX ISA, "Register
// Fragments", wgmma). Returns the type of its elements.
DType check_fragment(Context& c, const std::string& value) {
  constexpr int elements = int{64} * 16 / static_cast<int>(mma::warpgroup);
  const Type& type = c.names.use(value).type;
  if (!is_float16(type.dtype) || type.lanes != elements)
    fail("`{}` is not a fragment of {} 16-bit elements", value, elements);
  return type.dtype;
}

bool is_power_of_two(std::int64_t n) { return n >= 1 && std::has_single_bit(static_cast<std::uint64_t>(n)); }

}  // namespace

void check(Context& c, const Smem& s) {
  Name& buffer = c.names.define(s.buffer, Name::Kind::shared, "a buffer");
  if (s.shape.empty()) fail("shared memory has at least one dimension");
  if (s.registers && c.program.level != Level::tile) fail("warps keep `{}` in registers in Tile IR only", s.buffer);
  buffer.type = {s.dtype, 1};
  buffer.writable = true;
  if (!is_power_of_two(s.align)) fail("an alignment of {} bytes", s.align);
  for (const std::int64_t extent : s.shape)
    if (extent < 1) fail("an extent of {}", extent);
  buffer.extents = s.shape;
}

void check(Context& c, const Init& i) {
  check_type(i.type, c.program.level);
  if (!neutral(i.op)) fail("{} has no neutral element", name(i.op));
  if (i.type.dtype == DType::boolean) fail("an accumulator is not bool");
  Name& acc = c.names.define(i.acc, Name::Kind::accumulator, "an accumulator");
  acc.type = i.type;
  acc.op = i.op;
}

void check(Context& c, const Sync&) { check_convergent(c); }

void check(Context& c, const TreeHalve& t) {
  const Name* buffer = c.names.find(t.buffer);
  if (buffer == nullptr || buffer->kind != Name::Kind::shared || !buffer->scope->open)
    fail("`{}` is not shared memory in scope", t.buffer);
  if (is_float16(buffer->type.dtype)) fail("`{}` holds {}, which cannot be merged", t.buffer, name(buffer->type.dtype));
  if (!neutral(t.op)) fail("{} has no neutral element", name(t.op));
  const std::vector<std::int64_t>& extents = buffer->extents;
  if (t.prefix.size() + 1 != extents.size())
    fail("`{}` has {} dimensions, found {} and tid", t.buffer, extents.size(), t.prefix.size());
  if (!is_power_of_two(t.length) || t.length > extents.back())
    fail("length {} is not a power of two up to {}", t.length, extents.back());
  for (std::size_t i = 0; i < t.prefix.size(); ++i) c.index.in_range(t.prefix[i], extents[i], 1, i);
  if (c.index.evaluate(t.tid).range.low < 0) fail("tid may be negative");
  check_convergent(c);
}

void check(Context& c, const WarpShuffle& s) {
  if (!neutral(s.op)) fail("{} has no neutral element", name(s.op));
  if (!is_power_of_two(s.length) || s.length > gpu::warp)
    fail("length {} is not a power of two up to {}", s.length, gpu::warp);
  if (c.threads % s.length != 0) fail("{} threads are not groups of {}", c.threads, s.length);
  if (s.type.lanes != 1 || s.type.dtype == DType::boolean) fail("a shuffle moves scalars, no bool");
  check_arg(c.names, s.value, s.type);
  c.names.define(s.dst, Name::Kind::value, "a value").type = s.type;
  check_convergent(c);
}

void check(Context& c, const LdMatrix& l) {
  const bool bits = is_float16(l.type.dtype);
  const int packed = bits ? 2 : 1, matrices = l.type.lanes / packed;
  if ((!bits && l.type.dtype != DType::f32) || l.type.lanes % packed != 0 ||
      (matrices != 1 && matrices != 2 && matrices != 4))
    fail("1, 2 or 4 matrices have 2, 4 or 8 lanes of f16 or bf16, or 1, 2 or 4 lanes of f32");
  if (l.transposed && !bits) fail("only 16-bit matrices can be transposed");
  if (c.threads % gpu::warp != 0) fail("{} threads are not a multiple of the warp size", c.threads);
  const Name& buffer = check_shared_access(c, l.buffer, l.index, 4 * packed);
  if (buffer.type.dtype != l.type.dtype) fail("`{}` holds {}", l.buffer, name(buffer.type.dtype));
  c.names.define(l.dst, Name::Kind::value, "a value").type = l.type;
  check_convergent(c);
}

void check(Context& c, const Pack& p) {
  const DType dtype = p.type.dtype;
  if (!is_float16(dtype) && dtype != DType::f32) fail("a fragment holds f16, bf16 or f32");
  const int packed = is_float16(dtype) ? 2 : 1, registers = p.type.lanes / packed;
  if (p.type.lanes % packed != 0 || (registers != 1 && registers != 2 && registers != 4))
    fail("a fragment is 1, 2 or 4 registers, of two elements of 16 bits or one f32");
  int lanes = 0;
  for (const std::string& value : p.values) {
    const Type& type = c.names.use(value).type;
    if (type.dtype != DType::f32 && type.dtype != dtype)
      fail("`{}` is {}, expected f32 or {}", value, name(type.dtype), name(dtype));
    if (is_float16(type.dtype) && type.lanes > 1 && lanes % 2 != 0)
      fail("each word of `{}` would span two registers", value);
    lanes += type.lanes;
  }
  if (lanes != p.type.lanes) fail("the values have {} lanes, the fragment {}", lanes, p.type.lanes);
  c.names.define(p.dst, Name::Kind::value, "a value").type = p.type;
}

void check(Context& c, const QuadTranspose& t) {
  constexpr int count = QuadTranspose::threads;
  if (!is_float16(t.type.dtype) || t.type.lanes != 2 * count)
    fail("it makes {} lanes of f16 or bf16, found {} of {}", 2 * count, t.type.lanes, name(t.type.dtype));
  if (std::ssize(t.values) != count) fail("it takes {} values, found {}", count, t.values.size());
  for (const std::string& value : t.values) {
    const Type& type = c.names.use(value).type;
    if (type.lanes != 2 || (type.dtype != DType::f32 && type.dtype != t.type.dtype))
      fail("`{}` has {} lanes of {}, expected two of f32 or {}", value, type.lanes, name(type.dtype),
           name(t.type.dtype));
  }
  if (c.threads % gpu::warp != 0) fail("{} threads are not a multiple of the warp size", c.threads);
  c.names.define(t.dst, Name::Kind::value, "a value").type = t.type;
  check_convergent(c);
}

void check(Context& c, const Mma& m) {
  const mma::Atom* atom = mma::find_atom(m.atom);
  if (atom == nullptr || atom->of_warpgroup()) fail("`{}` is not a matrix instruction of a warp", m.atom);
  check_allowed(c, *atom);
  if (m.sums.size() != 2 && m.sums.size() != 4) fail("it adds to two vectors or four scalars, found {}", m.sums.size());
  const Type sums = {DType::f32, m.sums.size() == 2 ? 2 : 1};
  for (const std::string& sum : m.sums) {
    if (std::ranges::count(m.sums, sum) > 1) fail("`{}` is named twice", sum);
    check_accumulator(c, sum, sums, Op::add);
  }
  const Type &a = c.names.use(m.a).type, &b = c.names.use(m.b).type;
  if (!atom->takes(a.dtype) || a.lanes != atom->packed() * atom->a_matrices())
    fail("`{}` is not {} matrices of {}", m.a, atom->a_matrices(), mma::element_names(*atom));
  if (b.dtype != a.dtype || b.lanes < atom->packed() * (m.part + atom->b_matrices()))
    fail("`{}` has fewer than {} matrices of {}", m.b, m.part + atom->b_matrices(), name(a.dtype));
  check_convergent(c);
}

void check(Context& c, const CopyPairs& s) {
  const Name& to = check_shared_access(c, s.buffer, s.index, pairs::depth * pairs::lanes);
  const Name& from = check_access(c, s.source, s.at, pairs::lanes);
  for (const Name* name : {&to, &from})
    if (name->type.dtype != DType::bf16) fail("pairs must be of bf16, found {}", ir::name(name->type.dtype));
  if (from.kind != Name::Kind::buffer) fail("`{}` is not in global memory", s.source);
  if (static_cast<std::size_t>(s.dim) + 1 >= s.at.size())
    fail("dim={}: pairs must lie along a dimension other than the last", s.dim);
  check_access(c, s.source, s.next(), pairs::lanes);
}

void check(Context& c, const CopyTransposed& s) {
  const int size = s.size;
  if (!CopyTransposed::is_size(size)) fail("size={}: a block has 8 or 16 rows", size);
  if (s.index.size() < 2) fail("a block has two dimensions, found {}", s.index.size());
  std::vector<Expr> last = s.index;
  last.end()[-2] = last.end()[-2] + (size - 1);
  check_shared_access(c, s.buffer, last, size);
  const Name& to = check_shared_access(c, s.buffer, s.index, size);
  if (s.dim < 0 || static_cast<std::size_t>(s.dim) + 1 >= s.at.size())
    fail("dim={}: rows must lie along a dimension other than the last", s.dim);
  check_access(c, s.source, s.row(size - 1), size);
  const Name& from = check_access(c, s.source, s.at, size);
  for (const Name* name : {&to, &from})
    if (name->type.dtype != DType::f32)
      fail("only blocks of f32 can be transposed, found {}", ir::name(name->type.dtype));
  if (from.kind != Name::Kind::buffer) fail("`{}` is not in global memory", s.source);
}

void check(Context& c, const DotPairs& d) {
  check_accumulator(c, d.acc, {DType::f32, pairs::lanes}, Op::add);
  const Name& a = check_access(c, d.a, d.at_a, pairs::depth);
  const Name& b = check_shared_access(c, d.b, d.at_b, pairs::depth * pairs::lanes);
  for (const Name* name : {&a, &b})
    if (name->type.dtype != DType::bf16) fail("pairs must be of bf16, found {}", ir::name(name->type.dtype));
}

void check(Context& c, const Wgmma& w) {
  const mma::Atom* atom = mma::find_atom(w.atom);
  if (atom == nullptr || !atom->of_warpgroup()) fail("`{}` is not a matrix instruction of a warpgroup", w.atom);
  const std::size_t registers = static_cast<std::size_t>(atom->m * atom->n / mma::warpgroup);
  if (w.sums.size() != registers && 2 * w.sums.size() != registers)
    fail("it adds to {} vectors or {} scalars, found {}", registers / 2, registers, w.sums.size());
  check_sums(c, w.sums, w.sums.size() == registers ? 1 : 2);
  const auto* fragment = std::get_if<std::string>(&w.a);
  const auto* matrix = std::get_if<SharedMatrix>(&w.a);
  const DType a = fragment != nullptr ? check_fragment(c, *fragment) : check_matrix(c, *matrix, atom->m, atom->k),
              b = check_matrix(c, w.b, atom->n, atom->k);
  if (a != b)
    fail("`{}` holds {}, `{}` {}", fragment != nullptr ? *fragment : matrix->buffer, name(a), w.b.buffer, name(b));
}

void check(Context& c, const WgmmaFence& w) {
  check_sums(c, w.sums, 0);
  for (const std::string& fragment : w.fragments) check_fragment(c, fragment);
}

void check(Context& c, const WgmmaCommit&) { check_warpgroups(c); }

void check(Context& c, const WgmmaWait& w) {
  if (w.keep < 0) fail("keep={}", w.keep);
  check_sums(c, w.sums, 0);
}

void check(Context& c, const ClusterSync&) { check_in_cluster(c); }

void check(Context& c, const ClusterLoad& l) {
  check_type(l.type, c.program.level);
  const Name& buffer = check_shared_access(c, l.buffer, l.index, l.type.lanes);
  if (l.type.dtype != DType::f32 || buffer.type.dtype != DType::f32) fail("it can move only f32");
  check_block(c, l.block);
  c.names.define(l.dst, Name::Kind::value, "a value").type = l.type;
}

// PTX ISA, "cp.async": 4, 8 or 16 bytes from global to shared memory.
void check(Context& c, const CpAsyncCopy& s) {
  const Name& to = check_shared_access(c, s.buffer, s.index, s.lanes);
  const Name& from = check_access(c, s.source, s.at, s.lanes);
  if (from.kind != Name::Kind::buffer) fail("`{}` is not in global memory", s.source);
  const DType stored = from.type.dtype;
  if (stored != to.type.dtype) fail("`{}` holds {}", s.source, name(stored));
  const std::int64_t size = s.lanes * bytes(stored);
  if (size != 4 && size != 8 && size != 16) fail("a copy of {} bytes, not 4, 8 or 16", size);
}

void check(Context&, const CpAsyncCommit&) {}

void check(Context&, const ProxyFence&) {}

void check(Context&, const CpAsyncWait& w) {
  if (w.keep < 0) fail("keep={}", w.keep);
}

void check(Context& c, const MbarrierInit& m) {
  if (m.slots < 1 || m.count < 1) fail("{} slots and a count of {}", m.slots, m.count);
  check_in_tile(c);
  c.names.define(m.barrier, Name::Kind::barrier, "a barrier").extents = {m.slots};
}

void check(Context& c, const MbarrierArriveExpectTx& m) {
  check_barrier(c, m.barrier, m.slot);
  if (m.bytes < 0 || m.bytes > max_transaction) fail("{} bytes, not 0 to {}", m.bytes, max_transaction);
}

void check(Context& c, const MbarrierArrive& m) {
  check_barrier(c, m.barrier, m.slot);
  if (m.block) check_block(c, *m.block);
}

void check(Context& c, const MbarrierWait& m) {
  check_barrier(c, m.barrier, m.slot);
  c.index.in_range(m.phase, 2);
}

void check(Context& c, const TmaDescriptor& d) {
  if (c.names.scope()->parent != nullptr) fail("a descriptor must precede the Tile");
  const Buffer* source = c.program.find(d.source);
  if (source == nullptr) fail("`{}` is not a buffer of the program", d.source);
  if (const std::string fault = tma::fault(d, *source); !fault.empty()) fail("{}", fault);
  c.names.define(d.name, Name::Kind::descriptor, "a descriptor").descriptor = &d;
}

void check(Context& c, const TmaLoad& t) {
  const Name& to = check_shared_access(c, t.buffer, t.index, 1);
  const Name* descriptor = c.names.find(t.descriptor);
  if (descriptor == nullptr || descriptor->kind != Name::Kind::descriptor)
    fail("`{}` is not a descriptor before this", t.descriptor);
  const TmaDescriptor& d = *descriptor->descriptor;
  if (t.coordinates.size() != d.box.size())
    fail("`{}` has {} dimensions, found {} coordinates", d.name, d.box.size(), t.coordinates.size());
  c.index.set_gathers(true);
  for (const Expr& e : t.coordinates) c.index.evaluate(e);
  c.index.set_gathers(false);
  const DType stored = c.program.find(d.source)->dtype;
  if (stored != to.type.dtype) fail("`{}` holds {}", d.source, name(stored));
  const std::int64_t room = element_count(to.extents), box = element_count(d.box);
  if (box > room) fail("a box of {} elements, `{}` has {}", box, t.buffer, room);
  check_barrier(c, t.barrier, t.slot);
  if (!t.multicast) return;
  if (c.cluster == 0) fail("the Tile has no CLUSTER axis");
  if (!c.producing) fail("a copy that fills slots of other blocks must be in a Produce");
}

// One thread executes the body. So the body may only copy, wait, loop and branch, and must not depend on the axes of
// the block's threads.
void check(Context& c, const Produce& p) {
  check_in_tile(c);
  check_convergent(c);
  if (std::exchange(c.produced, true)) fail("a block can have only one Produce");
  if (p.threads % gpu::warp != 0) fail("{} threads are not a multiple of the warp size", p.threads);
  const bool reserves = p.own != 0 || p.others != 0;
  // PTX ISA, "setmaxnreg": multiples of 8 from 24 to 256, for whole warpgroups.
  const auto legal = [](std::int64_t n) { return n >= 24 && n <= 256 && n % 8 == 0; };
  if (reserves && (!legal(p.own) || !legal(p.others)))
    fail("{} and {} registers, not multiples of 8 from 24 to 256", p.own, p.others);
  if (reserves && (p.threads % mma::warpgroup != 0 || c.threads % mma::warpgroup != 0))
    fail("registers are dealt out to whole warpgroups, found {} and {} threads", p.threads, c.threads);
  for_each(p.body, [&](const Stmt& stmt) {
    const bool copies = stmt.as<Loop>() != nullptr || stmt.as<If>() != nullptr || stmt.as<MbarrierWait>() != nullptr ||
                        stmt.as<MbarrierArriveExpectTx>() != nullptr || stmt.as<TmaLoad>() != nullptr;
    if (!copies) fail("it may hold only loops, conditions, waits and copies by TMA");
    const auto uniform = [&](const std::string& text) {
      const Name* axis = c.names.find(text);
      if (axis != nullptr && axis->kind == Name::Kind::axis && axis->active && axis->varies)
        fail("`{}` is an axis of the threads that do not execute it", text);
    };
    for_each_read(stmt, uniform);
  });
  c.producing = true;
  check_body(c, p.body);
  c.producing = false;
}

}  // namespace deplo::ir::verifier
