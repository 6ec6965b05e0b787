// Prints programs in the text form of docs/ir.md. parse(print(p)) == p.
#include <charconv>
#include <concepts>

#include "core/text/match.h"
#include "ir/program.h"
#include "ir/text/forms.h"
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

/// Prints programs. Statements that have a form (forms.h) are printed by it. For each other statement, one function
/// appends its text to `out`. A function `part` for each type prints the parts that statements share.
class Printer {
 public:
  std::string out;

  template <class... Parts>
  void put(const Parts&... parts) {
    (part(parts), ...);
  }

  // What forms call.
  void operator()(const auto&... parts) { put(parts...); }
  bool given(std::string_view words, bool is_given) {
    if (is_given) put(words);
    return is_given;
  }
  void flag(std::string_view words, bool is_given) { given(words, is_given); }
  void name(const std::string& name, std::string_view /*what*/) { put(name); }
  void new_name(const std::string& name, std::string_view /*what*/) { put(name); }
  void names(const std::vector<std::string>& names, std::string_view /*what*/) { put(names); }
  void dtype(DType dtype) { put(dtype); }
  void type(DType dtype) { type(Type{dtype, 1}); }
  void type(const Type& type) {
    if (type == Type{}) return;
    put(':', type.dtype);
    lanes(type.lanes);
  }
  void number(std::int64_t n, std::int64_t /*low*/, std::int64_t /*high*/, std::string_view /*what*/ = {}) { put(n); }
  void option(std::string_view word, std::int64_t n, std::int64_t otherwise, std::int64_t /*high*/) {
    if (n != otherwise) put(' ', word, '=', n);
  }
  void bits(std::uint64_t bits) { put(static_cast<std::int64_t>(bits)); }
  void expression(const std::optional<Expr>& e) { put(*e); }
  void element(const std::string& buffer, const std::vector<Expr>& index) { put(Element{buffer, index}); }
  void list(const auto& items, std::string_view close) { put(items, close); }
  void fragment_or_matrix(const std::variant<SharedMatrix, std::string>& a) {
    if (const auto* fragment = std::get_if<std::string>(&a)) return put(*fragment);
    text::form(std::get<SharedMatrix>(a), *this);
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
  void part(DType d) { out += ir::name(d); }
  void part(Op op) { out += ir::name(op); }
  void part(const Value& v) {
    put(v.name);
    type(v.type);
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

  template <text::HasForm S>
  void statement(const S& s, int indent) {
    text::form(s, *this);
    put('\n');
    if constexpr (requires { s.body; }) body(s.body, indent + 1);
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
    if (s.transport != Transport::copy) put(' ', ir::name(s.transport));
    if (!s.when.is_constant(1)) put(" when=", s.when);
    put('\n');
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
  void statement(const Atomic& s, int) {
    put("Atomic(", Value{s.dst, {s.dtype, 1}}, " <- ", s.address, ", ", s.args, ", ");
    put(s.mode ? word("rmw_mode", *s.mode) : "swap_if", ", ", word("memory_scope", s.scope), ")\n");
  }
  void statement(const Fence& s, int) { put("Fence(", word("memory_scope", s.scope), ")\n"); }
  void statement(const Branch& s, int indent) {
    put(s.otherwise ? "Unless(" : "Branch(", s.condition, "):\n");
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
