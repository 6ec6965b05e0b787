// Prints programs in the text form of docs/ir.md. parse(print(p)) == p.
#include <charconv>
#include <concepts>

#include "core/text/match.h"
#include "ir/program.h"
#include "ir/text/words.h"
#include "ir/tile_program/text/quoted.h"

namespace deplo::ir {
namespace {

/// `v0:f32x4`; without a type for one f32.
struct Value {
  const std::string& name;
  Type type;
};

/// `a[a0, a1]`
struct Element {
  const std::string& buffer;
  const std::vector<Expr>& index;
};

/// ` word=3`, or nothing for 0.
struct Option {
  const char* word;
  std::int64_t number;
};

/// Prints programs. One function for each statement appends its text to `out`; a function `part` for each type prints
/// the parts that statements share.
class Printer {
 public:
  std::string out;

  template <class... Parts>
  void put(const Parts&... parts) {
    (part(parts), ...);
  }

  void body(const Body& statements, int indent) {
    for (const Stmt& s : statements) {
      out.append(2 * static_cast<std::size_t>(indent), ' ');
      match(s.node, [&](const auto& node) { statement(node, indent); });
    }
  }

  void buffer(const Buffer& b) {
    put(b.role == Role::input ? "input " : "output ", b.name, ": ", b.dtype, '[', b.shape, ']');
    if (b.strides != row_major_strides(b.shape)) put(" strides=(", b.strides, ')');
    if (b.fill) fill(*b.fill, b.dtype);
    put('\n');
  }

 private:
  void part(std::string_view text) { out += text; }
  void part(char c) { out += c; }
  template <std::integral Integer>
  void part(Integer v) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  }
  // Prints the shortest decimal that reads back as the same double.
  void part(double v) {
    char digits[40];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  }
  void part(const Expr& e) { out += print(e); }
  void part(DType d) { out += name(d); }
  void part(Op op) { out += name(op); }
  void part(const Value& v) {
    put(v.name);
    if (v.type == Type{}) return;
    put(':', v.type.dtype);
    lanes(v.type.lanes);
  }
  void part(const Element& e) { put(e.buffer, '[', e.index, ']'); }
  void part(const Option& o) {
    if (o.number != 0) put(o.word, '=', o.number);
  }
  template <std::same_as<Arg> Argument>
  void part(const Argument& a) {
    match(a, [&](const auto& value) { put(value); });
  }
  void part(const Axis& a) { put(a.name, ':', a.extent, '=', bind_name(a.bind)); }
  void part(const SlabAxis& a) {
    put(a.name, ':', a.extent);
    if (a.walks_dimension()) put('@', a.dim);
  }
  void part(const Print::Piece& piece) {
    put(tile_program::text::quoted(piece.text));
    if (!piece.value.empty()) put(' ', piece.value);
  }
  template <class T>
  void part(const std::vector<T>& list) {
    const char* separator = "";
    for (const T& item : list) {
      put(separator, item);
      separator = ", ";
    }
  }
  void part(const SharedMatrix& m) {
    put(Element{m.buffer, m.index}, m.transposed ? " transposed" : "", " swizzle=", m.swizzle);
    put(Option{" leading", m.leading});
  }

  // A range without a word means whole numbers for integer types and real numbers for floats.
  void fill(const Fill& f, DType dtype) {
    const bool whole = !is_float(dtype);
    put(" in ", f.draw == (whole ? Fill::Draw::integers : Fill::Draw::uniform) ? "" : ir::word(f.draw), '(', f.a);
    if (f.draw != Fill::Draw::constant) put(", ", f.b);
    put(')');
  }
  void lanes(int n) {
    if (n != 1) put('x', n);
  }

  void statement(const Loop& l, int indent) {
    const bool strided = !l.start.is_constant(0) || l.step != 1;
    if (strided)
      put("StridedLoop(", l.axis.name, " = ", l.start, "; < ", l.axis.extent, "; += ", l.step, "): # ");
    else if (l.end)
      put("for ", l.axis.name, " in 0..min(", l.axis.extent, ", ", *l.end, "): # ");
    else
      put("for ", l.axis.name, " in 0..", l.axis.extent, ": # ");
    put(bind_name(l.axis.bind), l.unroll != 1 ? " unroll" : "");
    if (l.unroll != 1) put(Option{"", l.unroll});
    if (!l.per.empty()) put(" per ", l.per);
    if (!l.atom.empty()) put(" mma=", l.atom);
    put(Option{" producers", l.producers}, l.pairs ? " pairs\n" : "\n");
    body(l.body, indent + 1);
  }
  void statement(const Load& l, int) { put(Value{l.dst, l.type}, " = load ", Element{l.buffer, l.index}, '\n'); }
  void statement(const Index& i, int) { put(Value{i.dst, i.type}, " = index ", i.value, '\n'); }
  void statement(const Assign& a, int) { put(Value{a.dst, a.type}, " = ", a.op, '(', a.args, ")\n"); }
  void statement(const Accum& a, int) {
    put(Value{a.dst, a.type}, " <- ", a.op, '(', a.dst, a.args.empty() ? "" : ", ", a.args, ")\n");
  }
  void statement(const SoftmaxSum& s, int) {
    put(s.maximum, ", ", s.sums, " <- softmax_sum(", s.score, ", ", s.weights, ")\n");
  }
  void statement(const Scale& s, int) { put(Value{s.acc, s.type}, " <- scale(", s.acc, ", ", s.factor, ")\n"); }
  void statement(const Write& w, int) {
    put(Element{w.buffer, w.index}, w.lanes != 1 ? ":" : "");
    lanes(w.lanes);
    put(adds(w.mode) ? " += " : " = ", w.value);
    if (w.mode == WriteMode::add_together) put(" together");
    if (w.mode == WriteMode::stream) put(" streamed");
    put('\n');
  }
  void statement(const If& s, int indent) {
    put("if ", s.condition, ":\n");
    body(s.then, indent + 1);
  }

  void statement(const Tile& t, int indent) {
    put("Tile(axes=(", t.axes, ')', Option{", resident", t.resident}, "):\n");
    body(t.body, indent + 1);
  }
  void statement(const Stage& s, int) {
    put(Value{s.buffer, {s.dtype, 1}}, " = Stage(", s.source, ", origin=(", s.origin, "), slab=(", s.slab, "))");
    put(Option{" panel", s.panel}, Option{" pad", s.pad}, Option{" swizzle", s.swizzle}, Option{" lanes", s.lanes});
    put(s.pairs ? " pairs" : "", Option{" prefetch", s.prefetch});
    if (s.slots != 1) put(Option{" buffers", s.slots}, '@', s.slot);
    if (s.transport != Transport::copy) put(' ', name(s.transport));
    if (!s.when.is_constant(1)) put(" when=", s.when);
    put('\n');
  }
  void statement(const AsyncWait& s, int) {
    put("AsyncWait(keep=", s.keep);
    if (!s.phase.is_constant(0) || !s.slot.is_constant(0)) put(", phase=", s.phase, ", slot=", s.slot);
    put(")\n");
  }
  void statement(const Combine& c, int) {
    put("Combine(", c.acc, ", op=", c.op, ", over=(", c.over, ')');
    if (c.to) put(", to=", *c.to);
    put(")\n");
  }

  void statement(const Smem& s, int) {
    put("Smem ", s.buffer, '[', s.shape, "] (", s.dtype, ')');
    if (s.align != Smem{}.align) put(Option{" align", s.align});
    put(s.registers ? " registers\n" : "\n");
  }
  void statement(const Init& i, int) { put("Init(", Value{i.acc, i.type}, ", op=", i.op, ")\n"); }
  void statement(const Sync&, int) { put("Sync\n"); }
  void statement(const TreeHalve& t, int) {
    put("TreeHalve(", t.buffer);
    if (!t.prefix.empty()) put('[', t.prefix, ']');
    put(", op=", t.op, ", length=", t.length, ", tid=", t.tid, ")\n");
  }
  void statement(const LdMatrix& s, int) {
    put("LdMatrix(", Value{s.dst, s.type}, " <- ", Element{s.buffer, s.index},
        s.transposed ? ", transposed)\n" : ")\n");
  }
  void statement(const Pack& s, int) { put("Pack(", Value{s.dst, s.type}, " <- ", s.values, ")\n"); }
  void statement(const QuadTranspose& s, int) { put("QuadTranspose(", Value{s.dst, s.type}, " <- ", s.values, ")\n"); }
  void statement(const Mma& s, int) {
    put("Mma(", s.sums, " <- ", s.a, ", ", s.b, ", part=", s.part, ", atom=", s.atom, ")\n");
  }
  void statement(const CopyPairs& s, int) {
    put("CopyPairs(", Element{s.buffer, s.index}, ", ", Element{s.source, s.at}, ", dim=", s.dim, ")\n");
  }
  void statement(const CopyTransposed& s, int) {
    put("CopyTransposed(", Element{s.buffer, s.index}, ", ", Element{s.source, s.at}, ", dim=", s.dim);
    put(", size=", s.size, ")\n");
  }
  void statement(const DotPairs& s, int) {
    put("DotPairs(", s.acc, " <- ", Element{s.a, s.at_a}, ", ", Element{s.b, s.at_b}, ")\n");
  }
  void statement(const Wgmma& s, int) {
    put("Wgmma(", s.sums, " <- ");
    match(s.a, [&](const auto& fragment_or_matrix) { put(fragment_or_matrix); });
    put(", ", s.b, ", atom=", s.atom, ")\n");
  }
  void statement(const WgmmaFence& s, int) {
    put("WgmmaFence(", s.sums, s.fragments.empty() ? "" : " <- ", s.fragments, ")\n");
  }
  void statement(const WgmmaCommit&, int) { put("WgmmaCommit\n"); }
  void statement(const ProxyFence&, int) { put("ProxyFence\n"); }
  void statement(const WgmmaWait& s, int) { put("WgmmaWait(keep=", s.keep, s.sums.empty() ? "" : ", ", s.sums, ")\n"); }
  void statement(const WarpShuffle& s, int) {
    put("WarpShuffle(", Value{s.dst, s.type}, " <- ", s.value, ", op=", s.op, ", length=", s.length, ")\n");
  }
  void statement(const ClusterSync&, int) { put("ClusterSync\n"); }
  void statement(const ClusterLoad& s, int) {
    put("ClusterLoad(", Value{s.dst, s.type}, " <- ", Element{s.buffer, s.index}, ", block=", s.block, ")\n");
  }
  void statement(const Prefetch& s, int) {
    put("Prefetch(", Element{s.buffer, s.index}, s.write ? ", write)\n" : ")\n");
  }
  void statement(const CpAsyncCopy& s, int) {
    put("CpAsyncCopy(", Element{s.buffer, s.index}, ", ", Element{s.source, s.at}, ", lanes=", s.lanes, ")\n");
  }
  void statement(const CpAsyncCommit&, int) { put("CpAsyncCommit\n"); }
  void statement(const CpAsyncWait& s, int) { put("CpAsyncWait(keep=", s.keep, ")\n"); }
  void statement(const MbarrierInit& s, int) {
    put("MbarrierInit ", s.barrier, '[', s.slots, "] (count=", s.count, ")\n");
  }
  void statement(const MbarrierArriveExpectTx& s, int) {
    put("MbarrierArriveExpectTx(", s.barrier, '[', s.slot, "], bytes=", s.bytes, ")\n");
  }
  void statement(const MbarrierArrive& s, int) {
    put("MbarrierArrive(", s.barrier, '[', s.slot, ']');
    if (s.block) put(", block=", *s.block);
    put(")\n");
  }
  void statement(const MbarrierWait& s, int) {
    put("MbarrierWait(", s.barrier, '[', s.slot, "], phase=", s.phase, ")\n");
  }
  void statement(const TmaDescriptor& s, int) {
    put("TmaDescriptor ", s.name, '(', s.source, ", box=(", s.box, "))", Option{" swizzle", s.swizzle}, '\n');
  }
  void statement(const TmaLoad& s, int) {
    put("TmaLoad(", Element{s.buffer, s.index}, ", ", Element{s.descriptor, s.coordinates}, ", ");
    put(s.barrier, '[', s.slot, s.multicast ? "], multicast)\n" : "])\n");
  }
  void statement(const Produce& s, int indent) {
    put("Produce(threads=", s.threads, Option{", own", s.own}, Option{", others", s.others}, "):\n");
    body(s.body, indent + 1);
  }

  void statement(const Constant& s, int) {
    put("Constant(", Value{s.dst, {s.dtype, 1}}, " <- bits ", static_cast<std::int64_t>(s.bits), ")\n");
  }
  void statement(const Compute& s, int) {
    put("Compute(", Value{s.dst, {s.dtype, 1}}, " <- ", s.op->name, '(', s.args, ')');
    for (std::size_t i = 0; i < s.numbers.size(); ++i)
      if (s.numbers[i] != s.op->attributes[i].otherwise.value_or(0))
        put(", ", s.op->attributes[i].name, '=', s.numbers[i]);
    put(")\n");
  }
  void statement(const Local& s, int) {
    put("Local ", s.array, '[', s.count, "] (", s.dtype, ')');
    if (s.space != Space::thread) put(s.space == Space::shared ? " shared=" : " scratch=", s.offset);
    put('\n');
  }
  void statement(const Table& s, int) {
    put("Table ", s.array, " (", s.dtype, ") = ");
    put(std::vector<std::int64_t>(s.bits.begin(), s.bits.end()), '\n');
  }
  void statement(const Get& s, int) { put("Get(", Value{s.dst, {s.dtype, 1}}, " <- ", s.array, '[', s.index, "])\n"); }
  void statement(const Put& s, int) { put("Put(", s.array, '[', s.index, "] <- ", s.value, ")\n"); }
  void statement(const Address& s, int) { put("Address(", s.dst, " <- ", s.buffer, ")\n"); }
  void statement(const LoadAt& s, int) {
    put("LoadAt(", Value{s.dst, {s.dtype, 1}}, " <- ", s.address, s.strong ? ", strong)\n" : ")\n");
  }
  void statement(const StoreAt& s, int) {
    put("StoreAt(", Value{s.address, {s.dtype, 1}}, " <- ", s.value, s.strong ? ", strong)\n" : ")\n");
  }
  void statement(const Atomic& s, int) {
    put("Atomic(", Value{s.dst, {s.dtype, 1}}, " <- ", s.address, ", ", s.args, ", ");
    put(s.mode ? word("rmw_mode", *s.mode) : "swap_if", ", ", word("memory_scope", s.scope), ")\n");
  }
  void statement(const Fence& s, int) { put("Fence(", word("memory_scope", s.scope), ")\n"); }
  void statement(const Branch& s, int indent) {
    put(s.otherwise ? "Unless(" : "Branch(", s.condition, "):\n");
    body(s.body, indent + 1);
  }
  void statement(const Forever& s, int indent) {
    put("Forever:\n");
    body(s.body, indent + 1);
  }
  void statement(const Jump& s, int) {
    put(s.to == Jump::To::after ? "Break\n" : s.to == Jump::To::next ? "Continue\n" : "Return\n");
  }
  void statement(const Print& s, int) { put("Print(", s.pieces, ")\n"); }

  template <class Enum>
  static std::string_view word(std::string_view enumeration, Enum value) {
    return tile_program::enumeration(enumeration).words[static_cast<std::size_t>(value)];
  }
};

}  // namespace

std::string print(const Body& body, int indent) {
  Printer p;
  p.body(body, indent);
  return std::move(p.out);
}

std::string print(const Program& program) {
  Printer p;
  p.put("=== ", name(program.level), ": ", program.name, " ===\n");
  if (program.allow_tf32) p.put("allow tf32\n");
  for (const Buffer& b : program.buffers) p.buffer(b);
  p.body(program.body, 0);
  return std::move(p.out);
}

}  // namespace deplo::ir
