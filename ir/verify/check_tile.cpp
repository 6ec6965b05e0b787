// Checks the statements of Tile IR: the launch, stages, their layouts and slots, the waits for them, and combinations.
#include <algorithm>
#include <bit>

#include "ir/hardware/pairs.h"
#include "ir/hardware/stage_layout.h"
#include "ir/hardware/tma.h"
#include "ir/text/words.h"
#include "ir/types/float16.h"
#include "ir/verify/checks.h"
#include "ir/verify/operands.h"
#include "ir/verify/violation.h"

namespace deplo::ir::verifier {
namespace {

// CUDA C++ Programming Guide, "Thread Block Clusters": 8, or 16 if the device is asked for it.
constexpr std::int64_t max_in_cluster = 16;

const Name& buffer_of_program(const Context& c, const std::string& text) {
  const Name* buffer = c.names.find(text);
  if (buffer == nullptr || buffer->kind != Name::Kind::buffer) fail("`{}` is not a buffer of the program", text);
  return *buffer;
}

// Checks that the expression is the same for all threads of the block, and for all registers and lanes. Returns its
// range.
Strided evaluate_uniform(Context& c, const Expr& e, const char* what) {
  c.index.begin_list();
  const Value value = c.index.evaluate(e);
  if (value.varies) fail("the {} `{}` differs between the threads of a block", what, print(e));
  for (const Name* axis : c.index.axes())
    if (c.index.is_indexed(*axis) && (axis->bind == Bind::reg || axis->bind == Bind::vector))
      fail("the {} depends on the {} axis `{}`", what, bind_name(axis->bind), axis->text);
  return value.range;
}

// Do two stages of one buffer agree in everything except origin, slot and condition?
bool agree(const Stage& a, const Stage& b) {
  return a.source == b.source && a.dtype == b.dtype && a.slab == b.slab && a.transport == b.transport &&
         a.lanes == b.lanes && a.slots == b.slots && a.panel == b.panel && a.pad == b.pad && a.swizzle == b.swizzle &&
         a.prefetch == b.prefetch && a.pairs == b.pairs;
}

void check_slab(const Stage& s, std::size_t rank) {
  if (s.slab.empty()) fail("the slab has no axes");
  for (const SlabAxis& a : s.slab) {
    const auto same = [&](const SlabAxis& b) {
      return &b != &a && ((b.dim == a.dim && a.walks_dimension()) || b.name == a.name);
    };
    if (!is_name(a.name)) fail("`{}` cannot name a slab axis", a.name);
    if (a.extent < 1) fail("slab axis `{}` has an extent of {}", a.name, a.extent);
    if (a.walks_dimension() && (a.dim < 0 || static_cast<std::size_t>(a.dim) >= rank))
      fail("`{}` has no dimension {}", s.source, a.dim);
    if (std::any_of(s.slab.begin(), s.slab.end(), same)) fail("slab axis `{}` repeats another", a.name);
  }
}

// Checks the origin. It must contain each slab axis that does not walk a dimension of the source.
void check_origin(Context& c, const Stage& s) {
  const IndexProver::Mark outside = c.index.mark();
  for (const SlabAxis& a : s.slab) {
    if (a.walks_dimension()) continue;
    if (!depends_on(s.origin, a.name)) fail("the origin does not say where slab axis `{}` goes", a.name);
    c.index.enter(a.name, a.extent, Bind::free, false, Strided{0, a.extent - 1, a.extent > 1 ? 1 : 0});
  }
  c.index.set_gathers(true);
  for (const Expr& e : s.origin) evaluate_uniform(c, e, "origin");
  c.index.set_gathers(false);
  c.index.leave(outside);
}

// Checks a stage that stores its elements in pairs. If its rows run along the rows of the source, each copy takes a
// vector from two rows. Otherwise the elements of a pair are neighbours in the source, and each copy takes one pair.
void check_pairs(const Stage& s, const Buffer& source) {
  if (const std::string fault = pairs::fault(s, source); !fault.empty()) fail("{}", fault);
  const int lanes = pairs::along_rows(s, source) ? pairs::lanes : 1;
  if (s.lanes != lanes) fail("pairs of {} lanes, not {}", s.lanes, lanes);
}

// Checks how the elements are laid out and copied.
void check_layout(const Stage& s, const Buffer& source) {
  const std::int64_t element = bytes(s.dtype);
  if (s.panel < 0 || (s.panel > 0 && s.slab.back().extent % s.panel != 0))
    fail("a panel of {} does not divide {}", s.panel, s.slab.back().extent);
  if (s.pad < 0) fail("a pad of {}", s.pad);
  if (s.swizzle != 0 && !tma::is_pattern(s.swizzle)) fail("a swizzle of {}, not 0, 32, 64 or 128 bytes", s.swizzle);
  const bool chunks = s.transport == Transport::async && s.lanes * element == 16;
  if (s.swizzle != 0 && ((s.transport != Transport::tma && !chunks) || element == 1))
    fail("a swizzle needs tma copies, or async copies of 16 bytes, of elements of 2 or 4 bytes");
  if (s.swizzle != 0 && s.pad != 0) fail("a swizzle allows no pad");
  if (s.swizzle != 0 && row_elements(s) * element != s.swizzle)
    fail("rows of {} bytes do not match a swizzle of {}", row_elements(s) * element, s.swizzle);
  if (s.transport == Transport::tma && s.pad != 0) fail("tma copies allow no pad");
  if (s.lanes < 0 || s.lanes > 16 || (s.lanes > 0 && !std::has_single_bit(static_cast<unsigned>(s.lanes))))
    fail("copies of {} lanes, not a power of two up to 16", s.lanes);
  if (s.lanes > 1 && row_elements(s) % s.lanes != 0)
    fail("copies of {} lanes do not divide a row of {}", s.lanes, row_elements(s));
  if (s.lanes > 1 && !s.pairs && s.slab.back().dim + 1 != std::ssize(source.shape) &&
      !has_turned_blocks(s, source, s.lanes))
    fail("copies of {} lanes that are not adjacent in `{}`", s.lanes, s.source);
  if (s.pairs) check_pairs(s, source);
  if (s.prefetch < 0 || (s.prefetch > 0 && (s.transport == Transport::async || s.transport == Transport::tma)))
    fail("prefetch={}: only copies by loads and stores can be prefetched", s.prefetch);
  if (s.transport != Transport::async || s.lanes == 0) return;
  const std::int64_t size = s.lanes * element;
  if (size != 4 && size != 8 && size != 16) fail("async copies of {} bytes, not 4, 8 or 16", size);
  if (s.pad % s.lanes != 0) fail("a pad of {} leaves copies of {} lanes misaligned", s.pad, s.lanes);
}

// Checks the box of a tma copy. It has the dimensions of the source, in the same order.
void check_box(const Stage& s, const Buffer& source) {
  TmaDescriptor d{"", s.source, std::vector<std::int64_t>(source.shape.size(), 1), s.swizzle};
  for (std::size_t i = 0; i < s.slab.size(); ++i) {
    if (!s.slab[i].walks_dimension()) fail("a tma copy walks dimensions of its source");
    if (i > 0 && s.slab[i].dim < s.slab[i - 1].dim) fail("a tma copy keeps the order of the source's dimensions");
    d.box[static_cast<std::size_t>(s.slab[i].dim)] = s.slab[i].extent;
  }
  if (s.slab.back().dim + 1 != std::ssize(source.shape))
    fail("the rows of a tma copy walk the last dimension of the source");
  d.box.back() = row_elements(s);
  if (const std::string fault = tma::fault(d, source); !fault.empty()) fail("{}", fault);
}

// Declares the buffer of a stage, if the stage is the buffer's first.
void declare(Context& c, const Stage& s, const Name& source) {
  check_slab(s, source.extents.size());
  const DType stored = source.type.dtype;
  if (s.dtype != stored && s.dtype != value_type(stored))
    fail("`{}` holds {}, but its stage holds {}", s.source, name(stored), name(s.dtype));
  if (s.dtype != stored && (s.transport == Transport::async || s.transport == Transport::tma))
    fail("{} copies convert nothing", name(s.transport));
  const Buffer& memory = *c.program.find(s.source);
  check_layout(s, memory);
  if (s.transport == Transport::tma) check_box(s, memory);
  Name& buffer = c.names.define(s.buffer, Name::Kind::shared, "a buffer");
  buffer.type = {s.dtype, 1};
  buffer.stage = &s;
  if (s.slots > 1) buffer.extents.push_back(s.slots);
  for (const SlabAxis& a : s.slab) buffer.extents.push_back(a.extent);
}

}  // namespace

void check(Context& c, const Tile& t) {
  if (c.names.scope()->parent != nullptr) fail("a Tile must be at the top level");
  if (t.resident < 0) fail("{} resident blocks", t.resident);
  for (const Axis& a : t.axes) {
    const bool launch = a.bind == Bind::block || a.bind == Bind::cluster || a.bind == Bind::thread;
    if (a.bind == Bind::cluster) {
      if (c.cluster != 0) fail("more than one CLUSTER axis");
      if (a.extent > max_in_cluster) fail("a cluster of {} blocks, at most {}", a.extent, max_in_cluster);
      c.cluster = a.extent;
    }
    if (a.bind == Bind::thread && __builtin_mul_overflow(c.threads, a.extent, &c.threads))
      fail("a block of too many threads");
    const bool inner = c.program.level == Level::tile && (a.bind == Bind::reg || a.bind == Bind::vector);
    if (!launch && !inner) fail("axis `{}` cannot be {} in {} IR", a.name, bind_name(a.bind), name(c.program.level));
    if (a.bind == Bind::vector) {
      if (c.vector_axis != nullptr) fail("more than one VECTOR axis");
      check_lanes(static_cast<int>(std::min<std::int64_t>(a.extent, 17)));
      c.vector_axis = &a.name;
    }
    c.index.enter(a, a.bind == Bind::thread && a.extent > 1, Strided{0, a.extent - 1, a.extent > 1 ? 1 : 0});
  }
  check_body(c, t.body);
}

void check(Context& c, const Stage& s) {
  const Name& source = buffer_of_program(c, s.source);
  const std::size_t rank = source.extents.size();
  if (s.origin.size() != rank) fail("`{}` has {} dimensions, found {} in the origin", s.source, rank, s.origin.size());
  check_origin(c, s);
  evaluate_uniform(c, s.when, "condition");
  if (s.transport == Transport::copy && !s.when.is_constant(1)) fail("a copy has no group that could be empty");
  if (s.slots < 1) fail("{} slots", s.slots);
  evaluate_uniform(c, s.slot, "slot");
  c.index.in_range(s.slot, s.slots);
  const Name* buffer = c.names.find(s.buffer);
  if (buffer == nullptr || buffer->stage == nullptr) {
    declare(c, s, source);
  } else {
    if (!agree(s, *buffer->stage)) fail("the stages of `{}` may differ only in origin, slot and condition", s.buffer);
    if (!buffer->scope->open) fail("`{}` is out of scope", s.buffer);
  }
  check_convergent(c);
}

void check(Context& c, const AsyncWait& w) {
  if (w.keep < 0) fail("keep={}", w.keep);
  const Strided slot = evaluate_uniform(c, w.slot, "slot");
  evaluate_uniform(c, w.phase, "phase");
  if (slot.low < 0) fail("the slot may be negative");
  c.index.in_range(w.phase, 2);
  check_convergent(c);
}

namespace {

void check_receiver(Context& c, const Combine& s) {
  const Name* axis = s.over.size() == 1 ? c.names.find(s.over[0]) : nullptr;
  if (axis == nullptr || (axis->bind != Bind::thread && axis->bind != Bind::cluster))
    fail("`to` is a position along one THREAD or CLUSTER axis");
  c.index.begin_list();
  if (c.index.evaluate(*s.to).varies) fail("`to` differs between the threads of a block");
  if (c.index.is_indexed(*axis)) fail("`to` depends on `{}`, along which it is a position", axis->text);
  if (c.vector_axis != nullptr && depends_on(*s.to, *c.vector_axis)) fail("`to` depends on the VECTOR axis");
  c.index.in_range(*s.to, axis->range.high + 1);
}

}  // namespace

void check(Context& c, const Combine& s) {
  const Name* acc = c.names.find(s.acc);
  if (acc == nullptr || acc->kind != Name::Kind::accumulator) fail("`{}` is not an accumulator before this", s.acc);
  check_accumulator(c, s.acc, acc->type, s.op);
  for (const std::string& text : s.over) {
    const Name* axis = c.names.find(text);
    const bool exists = axis != nullptr && axis->kind == Name::Kind::axis && axis->active;
    const Bind bind = exists ? axis->bind : Bind::free;
    if (bind == Bind::cluster) {
      if (!s.to) fail("one of the blocks along `{}` must get the total: to=", text);
      check_in_cluster(c);
    } else if (bind != Bind::thread && bind != Bind::reg && bind != Bind::vector) {
      fail("`{}` is not a CLUSTER, THREAD, REG or VECTOR axis", text);
    }
    if (std::count(s.over.begin(), s.over.end(), text) > 1) fail("axis `{}` is named twice", text);
  }
  if (s.to) check_receiver(c, s);
  check_convergent(c);
}

void check(Context& c, const Scale& s) {
  check_type(s.type, c.program.level);
  if (s.type.dtype != DType::f32) fail("only a sum of f32 can be scaled, not of {}", name(s.type.dtype));
  if (s.factor == Arg(s.acc)) fail("`{}` scales itself", s.acc);
  check_arg(c.names, s.factor, s.type);
  check_accumulator(c, s.acc, s.type, Op::add);
}

// The index is not checked against the extents, because a prefetch does not touch memory outside the buffer.
void check(Context& c, const Prefetch& p) {
  const std::size_t rank = buffer_of_program(c, p.buffer).extents.size();
  if (p.index.size() != rank) fail("`{}` has {} dimensions, found {} indices", p.buffer, rank, p.index.size());
  c.index.set_gathers(true);
  for (const Expr& e : p.index) c.index.evaluate(e);
  c.index.set_gathers(false);
}

}  // namespace deplo::ir::verifier
