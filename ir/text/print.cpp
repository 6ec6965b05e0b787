// Prints programs in the text form of docs/ir.md. parse(print(p)) == p.
#include <charconv>

#include "core/text/match.h"
#include "ir/program.h"
#include "ir/text/words.h"
#include "ir/tile_program/text/quoted.h"

namespace deplo::ir {
namespace {

/// Prints programs. One function for each statement appends its text to `out`; the other functions print the parts that
/// statements share.
class Printer {
 public:
  std::string out;

  void body(const Body& statements, int indent) {
    for (const Stmt& s : statements) {
      out.append(2 * static_cast<std::size_t>(indent), ' ');
      match(s.node, [&](const auto& node) { statement(node, indent); });
    }
  }

  void buffer(const Buffer& b) {
    out += b.role == Role::input ? "input " : "output ";
    out.append(b.name).append(": ").append(name(b.dtype)) += '[';
    integers(b.shape);
    out += ']';
    if (b.strides != row_major_strides(b.shape)) {
      out += " strides=(";
      integers(b.strides);
      out += ')';
    }
    if (b.fill) fill(*b.fill, b.dtype);
    out += '\n';
  }

 private:
  // A range without a word means whole numbers for integer types and real numbers for floats.
  void fill(const Fill& f, DType dtype) {
    const bool whole = !is_float(dtype);
    if (f.draw == (whole ? Fill::Draw::integers : Fill::Draw::uniform))
      out += " in (";
    else if (f.draw == Fill::Draw::constant)
      out += " in constant(";
    else
      out += f.draw == Fill::Draw::normal     ? " in normal("
             : f.draw == Fill::Draw::distinct ? " in distinct("
                                              : " in randint(";
    constant(f.a);
    if (f.draw != Fill::Draw::constant) {
      out += ", ";
      constant(f.b);
    }
    out += ')';
  }

  void integer(std::int64_t v) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  }

  void integer(std::string_view before, std::int64_t v, std::string_view after = {}) {
    out += before;
    integer(v);
    out += after;
  }

  // Prints the shortest decimal that reads back as the same double.
  void constant(double v) {
    char digits[40];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  }

  template <class List, class F>
  void separated(const List& list, F&& each) {
    const char* separator = "";
    for (const auto& item : list) {
      out += separator;
      each(item);
      separator = ", ";
    }
  }
  void integers(const std::vector<std::int64_t>& v) {
    separated(v, [&](std::int64_t i) { integer(i); });
  }
  void indices(const std::vector<Expr>& v) {
    separated(v, [&](const Expr& e) { out += print(e); });
  }

  void lanes(int n) {
    if (n == 1) return;
    out += 'x';
    integer(n);
  }
  void value(const std::string& n, const Type& t) {
    out += n;
    if (t == Type{}) return;
    (out += ':') += name(t.dtype);
    lanes(t.lanes);
  }
  void argument(const Arg& a) {
    if (const auto* n = std::get_if<std::string>(&a))
      out += *n;
    else
      constant(*std::get_if<double>(&a));
  }
  void arguments(const std::vector<Arg>& args) {
    separated(args, [&](const Arg& a) { argument(a); });
  }
  void access(const std::string& buffer_name, const std::vector<Expr>& index) {
    (out += buffer_name) += '[';
    indices(index);
    out += ']';
  }

  void statement(const Loop& l, int indent) {
    const bool strided = !l.start.is_constant(0) || l.step != 1;
    if (strided) {
      out.append("StridedLoop(").append(l.axis.name).append(" = ").append(print(l.start)).append("; < ");
      integer(l.axis.extent);
      integer("; += ", l.step, "): # ");
    } else {
      out.append("for ").append(l.axis.name).append(" in 0..");
      if (l.end) out += "min(";
      integer(l.axis.extent);
      if (l.end) out.append(", ").append(print(*l.end)) += ')';
      out += ": # ";
    }
    out += bind_name(l.axis.bind);
    if (l.unroll != 1) out += " unroll";
    if (l.unroll != 1 && l.unroll != 0) {
      out += '=';
      integer(l.unroll);
    }
    if (!l.per.empty()) (out += " per ") += l.per;
    if (!l.atom.empty()) (out += " mma=") += l.atom;
    option(" producers", l.producers);
    if (l.pairs) out += " pairs";
    out += '\n';
    body(l.body, indent + 1);
  }
  void statement(const Load& l, int) {
    value(l.dst, l.type);
    out += " = load ";
    access(l.buffer, l.index);
    out += '\n';
  }
  void statement(const Index& i, int) {
    value(i.dst, i.type);
    out.append(" = index ").append(print(i.value)) += '\n';
  }
  void statement(const Assign& a, int) {
    value(a.dst, a.type);
    (out.append(" = ") += name(a.op)) += '(';
    arguments(a.args);
    out += ")\n";
  }
  void statement(const Accum& a, int) {
    value(a.dst, a.type);
    (out.append(" <- ") += name(a.op)).append("(").append(a.dst).append(a.args.empty() ? "" : ", ");
    arguments(a.args);
    out += ")\n";
  }
  void statement(const SoftmaxSum& s, int) {
    out += s.maximum;
    for (const std::string& sum : s.sums) (out += ", ") += sum;
    out += " <- softmax_sum(";
    argument(s.score);
    out += ", ";
    arguments(s.weights);
    out += ")\n";
  }
  void statement(const Scale& s, int) {
    value(s.acc, s.type);
    out.append(" <- scale(").append(s.acc).append(", ");
    argument(s.factor);
    out += ")\n";
  }
  void statement(const Write& w, int) {
    access(w.buffer, w.index);
    if (w.lanes != 1) out += ':';
    lanes(w.lanes);
    out += adds(w.mode) ? " += " : " = ";
    argument(w.value);
    if (w.mode == WriteMode::add_together) out += " together";
    if (w.mode == WriteMode::stream) out += " streamed";
    out += '\n';
  }
  void statement(const If& s, int indent) {
    out.append("if ").append(print(s.condition)).append(":\n");
    body(s.then, indent + 1);
  }
  void statement(const Tile& t, int indent) {
    out += "Tile(axes=(";
    separated(t.axes, [&](const Axis& a) {
      (out += a.name) += ':';
      integer(a.extent);
      (out += '=') += bind_name(a.bind);
    });
    out += ')';
    if (t.resident > 0) {
      out += ", resident=";
      integer(t.resident);
    }
    out += "):\n";
    body(t.body, indent + 1);
  }
  void statement(const Stage& s, int) {
    value(s.buffer, {s.dtype, 1});
    out.append(" = Stage(").append(s.source).append(", origin=(");
    indices(s.origin);
    out += "), slab=(";
    separated(s.slab, [&](const SlabAxis& a) {
      (out += a.name) += ':';
      integer(a.extent);
      if (!a.walks_dimension()) return;
      out += '@';
      integer(a.dim);
    });
    out += "))";
    layout(s);
    out += '\n';
  }
  void option(const char* word, std::int64_t n) {
    if (n == 0) return;
    (out += word) += '=';
    integer(n);
  }
  void layout(const Stage& s) {
    option(" panel", s.panel);
    option(" pad", s.pad);
    option(" swizzle", s.swizzle);
    option(" lanes", s.lanes);
    if (s.pairs) out += " pairs";
    option(" prefetch", s.prefetch);
    if (s.slots != 1) {
      option(" buffers", s.slots);
      out.append("@").append(print(s.slot));
    }
    if (s.transport != Transport::copy) (out += ' ') += name(s.transport);
    if (!s.when.is_constant(1)) out.append(" when=").append(print(s.when));
  }
  void statement(const AsyncWait& s, int) {
    integer("AsyncWait(keep=", s.keep);
    if (!s.phase.is_constant(0) || !s.slot.is_constant(0))
      out.append(", phase=").append(print(s.phase)).append(", slot=").append(print(s.slot));
    out += ")\n";
  }
  void statement(const Combine& c, int) {
    (out.append("Combine(").append(c.acc).append(", op=") += name(c.op)).append(", over=(");
    separated(c.over, [&](const std::string& axis) { out += axis; });
    out += ')';
    if (c.to) out.append(", to=").append(print(*c.to));
    out += ")\n";
  }
  void statement(const Smem& s, int) {
    out.append("Smem ").append(s.buffer) += '[';
    integers(s.shape);
    (out.append("] (") += name(s.dtype)) += ')';
    if (s.align != Smem{}.align) option(" align", s.align);
    if (s.registers) out += " registers";
    out += '\n';
  }
  void statement(const Init& i, int) {
    out += "Init(";
    value(i.acc, i.type);
    (out.append(", op=") += name(i.op)).append(")\n");
  }
  void statement(const Sync&, int) { out += "Sync\n"; }
  void statement(const TreeHalve& t, int) {
    out += "TreeHalve(";
    if (t.prefix.empty())
      out += t.buffer;
    else
      access(t.buffer, t.prefix);
    out.append(", op=") += name(t.op);
    integer(", length=", t.length);
    out.append(", tid=").append(print(t.tid)).append(")\n");
  }
  void statement(const LdMatrix& s, int) {
    out += "LdMatrix(";
    value(s.dst, s.type);
    out += " <- ";
    access(s.buffer, s.index);
    out += s.transposed ? ", transposed)\n" : ")\n";
  }
  void statement(const Pack& s, int) {
    out += "Pack(";
    value(s.dst, s.type);
    out += " <- ";
    names_and_close(s.values);
  }
  void statement(const QuadTranspose& s, int) {
    out += "QuadTranspose(";
    value(s.dst, s.type);
    out += " <- ";
    names_and_close(s.values);
  }
  void statement(const Mma& s, int) {
    out += "Mma(";
    separated(s.sums, [&](const std::string& sum) { out += sum; });
    out.append(" <- ").append(s.a).append(", ").append(s.b);
    integer(", part=", s.part);
    out.append(", atom=").append(s.atom).append(")\n");
  }
  template <class S>
  void copy(const char* word, const S& s) {
    out += word;
    access(s.buffer, s.index);
    out += ", ";
    access(s.source, s.at);
    integer(", dim=", s.dim);
  }
  void statement(const CopyPairs& s, int) {
    copy("CopyPairs(", s);
    out += ")\n";
  }
  void statement(const CopyTransposed& s, int) {
    copy("CopyTransposed(", s);
    integer(", size=", s.size, ")\n");
  }
  void statement(const DotPairs& s, int) {
    out.append("DotPairs(").append(s.acc).append(" <- ");
    access(s.a, s.at_a);
    out += ", ";
    access(s.b, s.at_b);
    out += ")\n";
  }
  void names_and_close(const std::vector<std::string>& names) {
    separated(names, [&](const std::string& name) { out += name; });
    out += ")\n";
  }
  void matrix(const SharedMatrix& m) {
    access(m.buffer, m.index);
    if (m.transposed) out += " transposed";
    integer(" swizzle=", m.swizzle);
    option(" leading", m.leading);
  }
  void statement(const Wgmma& s, int) {
    out += "Wgmma(";
    separated(s.sums, [&](const std::string& sum) { out += sum; });
    out += " <- ";
    match(
        s.a, [&](const std::string& fragment) { out += fragment; }, [&](const SharedMatrix& m) { matrix(m); });
    out += ", ";
    matrix(s.b);
    out.append(", atom=").append(s.atom).append(")\n");
  }
  void statement(const WgmmaFence& s, int) {
    out += "WgmmaFence(";
    if (s.fragments.empty()) return names_and_close(s.sums);
    separated(s.sums, [&](const std::string& sum) { out += sum; });
    out += " <- ";
    names_and_close(s.fragments);
  }
  void statement(const WgmmaCommit&, int) { out += "WgmmaCommit\n"; }
  void statement(const ProxyFence&, int) { out += "ProxyFence\n"; }
  void statement(const WgmmaWait& s, int) {
    integer("WgmmaWait(keep=", s.keep);
    out += s.sums.empty() ? "" : ", ";
    names_and_close(s.sums);
  }
  void statement(const WarpShuffle& s, int) {
    out += "WarpShuffle(";
    value(s.dst, s.type);
    out.append(" <- ").append(s.value).append(", op=") += name(s.op);
    integer(", length=", s.length, ")\n");
  }
  void statement(const ClusterSync&, int) { out += "ClusterSync\n"; }
  void statement(const ClusterLoad& s, int) {
    out += "ClusterLoad(";
    value(s.dst, s.type);
    out += " <- ";
    access(s.buffer, s.index);
    out.append(", block=").append(print(s.block)).append(")\n");
  }
  void statement(const Prefetch& s, int) {
    out += "Prefetch(";
    access(s.buffer, s.index);
    out += s.write ? ", write)\n" : ")\n";
  }
  void statement(const CpAsyncCopy& s, int) {
    out += "CpAsyncCopy(";
    access(s.buffer, s.index);
    out += ", ";
    access(s.source, s.at);
    integer(", lanes=", s.lanes, ")\n");
  }
  void statement(const CpAsyncCommit&, int) { out += "CpAsyncCommit\n"; }
  void statement(const CpAsyncWait& s, int) { integer("CpAsyncWait(keep=", s.keep, ")\n"); }
  void statement(const MbarrierInit& s, int) {
    out.append("MbarrierInit ").append(s.barrier) += '[';
    integer(s.slots);
    integer("] (count=", s.count, ")\n");
  }
  void statement(const MbarrierArriveExpectTx& s, int) {
    out += "MbarrierArriveExpectTx(";
    access(s.barrier, {s.slot});
    integer(", bytes=", s.bytes, ")\n");
  }
  void statement(const MbarrierArrive& s, int) {
    out += "MbarrierArrive(";
    access(s.barrier, {s.slot});
    if (s.block) out.append(", block=").append(print(*s.block));
    out += ")\n";
  }
  void statement(const MbarrierWait& s, int) {
    out += "MbarrierWait(";
    access(s.barrier, {s.slot});
    out.append(", phase=").append(print(s.phase)).append(")\n");
  }
  void statement(const TmaDescriptor& s, int) {
    out.append("TmaDescriptor ").append(s.name).append("(").append(s.source).append(", box=(");
    integers(s.box);
    out += "))";
    option(" swizzle", s.swizzle);
    out += '\n';
  }
  void statement(const Produce& s, int indent) {
    integer("Produce(threads=", s.threads);
    option(", own", s.own);
    option(", others", s.others);
    out += "):\n";
    body(s.body, indent + 1);
  }
  void statement(const Constant& s, int) {
    out += "Constant(";
    value(s.dst, {s.dtype, 1});
    integer(" <- bits ", static_cast<std::int64_t>(s.bits), ")\n");
  }
  void statement(const Compute& s, int) {
    out += "Compute(";
    value(s.dst, {s.dtype, 1});
    out.append(" <- ").append(s.op->name) += '(';
    separated(s.args, [&](const std::string& name) { out += name; });
    out += ')';
    for (std::size_t i = 0; i < s.numbers.size(); ++i)
      if (s.numbers[i] != s.op->attributes[i].otherwise.value_or(0)) {
        out.append(", ").append(s.op->attributes[i].name);
        integer("=", s.numbers[i]);
      }
    out += ")\n";
  }
  void statement(const Local& s, int) {
    out.append("Local ").append(s.array) += '[';
    integer(s.count);
    (out.append("] (") += name(s.dtype)) += ')';
    if (s.space != Space::thread) integer(s.space == Space::shared ? " shared=" : " scratch=", s.offset);
    out += '\n';
  }
  void statement(const Table& s, int) {
    (out.append("Table ").append(s.array).append(" (") += name(s.dtype)).append(") = ");
    separated(s.bits, [&](std::uint64_t bits) { integer(static_cast<std::int64_t>(bits)); });
    out += '\n';
  }
  void statement(const Get& s, int) {
    out += "Get(";
    value(s.dst, {s.dtype, 1});
    out += " <- ";
    access(s.array, {s.index});
    out += ")\n";
  }
  void statement(const Put& s, int) {
    out += "Put(";
    access(s.array, {s.index});
    out.append(" <- ").append(s.value).append(")\n");
  }
  void statement(const Address& s, int) {
    out.append("Address(").append(s.dst).append(" <- ").append(s.buffer).append(")\n");
  }
  void statement(const LoadAt& s, int) {
    out += "LoadAt(";
    value(s.dst, {s.dtype, 1});
    out.append(" <- ").append(s.address).append(s.strong ? ", strong)\n" : ")\n");
  }
  void statement(const StoreAt& s, int) {
    out += "StoreAt(";
    value(s.address, {s.dtype, 1});
    out.append(" <- ").append(s.value).append(s.strong ? ", strong)\n" : ")\n");
  }
  void statement(const Atomic& s, int) {
    out += "Atomic(";
    value(s.dst, {s.dtype, 1});
    out.append(" <- ").append(s.address);
    for (const std::string& arg : s.args) out.append(", ").append(arg);
    out.append(", ").append(s.mode ? word("rmw_mode", *s.mode) : "swap_if");
    out.append(", ").append(word("memory_scope", s.scope)).append(")\n");
  }
  void statement(const Fence& s, int) { out.append("Fence(").append(word("memory_scope", s.scope)).append(")\n"); }
  void statement(const Branch& s, int indent) {
    out.append(s.otherwise ? "Unless(" : "Branch(").append(s.condition).append("):\n");
    body(s.body, indent + 1);
  }
  void statement(const Forever& s, int indent) {
    out += "Forever:\n";
    body(s.body, indent + 1);
  }
  void statement(const Jump& s, int) {
    out += s.to == Jump::To::after ? "Break\n" : s.to == Jump::To::next ? "Continue\n" : "Return\n";
  }
  void statement(const Print& s, int) {
    out += "Print(";
    separated(s.pieces, [&](const Print::Piece& piece) {
      out += tile_program::text::quoted(piece.text);
      if (!piece.value.empty()) out.append(" ").append(piece.value);
    });
    out += ")\n";
  }
  template <class Enum>
  static std::string_view word(std::string_view enumeration, Enum value) {
    return tile_program::enumeration(enumeration).words[static_cast<std::size_t>(value)];
  }
  void statement(const TmaLoad& s, int) {
    out += "TmaLoad(";
    access(s.buffer, s.index);
    out += ", ";
    access(s.descriptor, s.coordinates);
    out += ", ";
    access(s.barrier, {s.slot});
    out += s.multicast ? ", multicast)\n" : ")\n";
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
  (p.out.append("=== ") += name(program.level)).append(": ").append(program.name).append(" ===\n");
  if (program.allow_tf32) p.out += "allow tf32\n";
  for (const Buffer& b : program.buffers) p.buffer(b);
  p.body(program.body, 0);
  return std::move(p.out);
}

}  // namespace deplo::ir
