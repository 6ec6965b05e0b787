// Statements and their indentation.
#include <fmt/format.h>

#include "ir/parser.h"

namespace deplo::ir {

Body Parser::body(std::size_t depth) {
  Body out;
  while (!lex_.done() && lex_.indent() == 2 * depth) out.push_back(statement(depth));
  if (!lex_.done() && lex_.indent() > 2 * depth)
    lex_.fail(fmt::format("at most {} spaces before this line", 2 * depth));
  if (!lex_.done() && lex_.indent() % 2 != 0) lex_.fail("two spaces per level");
  return out;
}

Body Parser::nested(std::size_t depth) {
  if (depth >= kMaxBodyDepth) lex_.fail(fmt::format("at most {} levels", kMaxBodyDepth));
  lex_.next_line();
  return body(depth + 1);
}

Stmt Parser::statement(std::size_t depth) {
  if (lex_.take_if("for")) return for_loop(depth);
  if (lex_.take_if("StridedLoop")) return strided_loop(depth);
  if (lex_.take_if("if")) return if_statement(depth);
  if (lex_.take_if("Tile")) return tile(depth);
  const auto line = [&]() -> Stmt {
    if (lex_.take_if("Combine")) return combine();
    if (lex_.take_if("Smem")) return smem();
    if (lex_.take_if("Init")) return init();
    if (lex_.take_if("TreeHalve")) return tree_halve();
    if (lex_.take_if("Sync")) return Sync{};
    return named(new_name("a statement"));
  };
  Stmt s = line();
  lex_.next_line();
  return s;
}

Bind Parser::bind_word(Bind first, Bind last, std::string_view expected) {
  for (int b = static_cast<int>(first); b <= static_cast<int>(last); ++b)
    if (lex_.take_if(bind_name(static_cast<Bind>(b)))) return static_cast<Bind>(b);
  lex_.fail(expected);
}

Stmt Parser::for_loop(std::size_t depth) {
  Loop loop;
  loop.axis.name = new_name("an axis");
  lex_.expect("in");
  integer("0", 0, 0);
  lex_.expect("..");
  loop.axis.extent = integer("an extent", 1, kMaxExtent);
  return marked(std::move(loop), depth);
}

Stmt Parser::strided_loop(std::size_t depth) {
  Loop loop;
  lex_.expect("(");
  loop.axis.name = new_name("an axis");
  lex_.expect("=");
  loop.start = expression();
  lex_.expect(";");
  lex_.expect("<");
  loop.axis.extent = integer("an extent", 1, kMaxExtent);
  lex_.expect(";");
  lex_.expect("+=");
  loop.step = integer("a step", 1, kMaxExtent);
  lex_.expect(")");
  return marked(std::move(loop), depth);
}

Stmt Parser::marked(Loop loop, std::size_t depth) {
  lex_.expect(":");
  if (!lex_.take_marker()) lex_.fail("`# free` or `# reduce`");
  loop.axis.bind = bind_word(Bind::free, Bind::reduce, "`free` or `reduce`");
  if (lex_.take_if("unroll")) {
    loop.unroll = 0;
    if (lex_.take_if("=")) loop.unroll = static_cast<int>(integer("a number of copies", 2, 1 << 16));
  }
  loop.body = nested(depth);
  return loop;
}

Stmt Parser::if_statement(std::size_t depth) {
  If s;
  s.condition = expression();
  lex_.expect(":");
  s.then = nested(depth);
  return s;
}

Stmt Parser::tile(std::size_t depth) {
  Tile t;
  std::int64_t threads = 1;
  for (const char* word : {"(", "axes", "=", "("}) lex_.expect(word);
  separated(")", [&] {
    Axis a;
    a.name = new_name("an axis");
    lex_.expect(":");
    a.extent = extent(threads);
    lex_.expect("=");
    a.bind = bind_word(Bind::block, Bind::vector, "BLOCK, THREAD, REG or VECTOR");
    t.axes.push_back(std::move(a));
  });
  lex_.expect(")");
  lex_.expect(":");
  t.body = nested(depth);
  return t;
}

Stmt Parser::combine() {
  Combine c;
  lex_.expect("(");
  c.acc = name("an accumulator");
  lex_.expect(",");
  c.op = op_field();
  for (const char* word : {",", "over", "=", "("}) lex_.expect(word);
  separated(")", [&] { c.over.push_back(name("an axis")); });
  lex_.expect(")");
  return c;
}

Stmt Parser::smem() {
  Smem s;
  std::int64_t elements = 1;
  s.buffer = new_name("a buffer");
  lex_.expect("[");
  separated("]", [&] { s.shape.push_back(extent(elements)); });
  lex_.expect("(");
  s.dtype = dtype();
  lex_.expect(")");
  return s;
}

Stmt Parser::init() {
  Init i;
  lex_.expect("(");
  i.acc = new_name("an accumulator");
  if (lex_.take_if(":")) i.type = type();
  lex_.expect(",");
  i.op = op_field();
  lex_.expect(")");
  return i;
}

Stmt Parser::tree_halve() {
  TreeHalve t;
  lex_.expect("(");
  t.buffer = name("a buffer");
  if (lex_.take_if("[")) t.prefix = indices("]");
  lex_.expect(",");
  t.op = op_field();
  for (const char* word : {",", "length", "="}) lex_.expect(word);
  t.length = integer("a length", 1, kMaxExtent);
  for (const char* word : {",", "tid", "="}) lex_.expect(word);
  t.tid = expression();
  lex_.expect(")");
  return t;
}

Stmt Parser::named(std::string dst) {
  if (lex_.take_if("[")) return write(std::move(dst));
  Type t;
  if (lex_.take_if(":")) t = type();
  if (lex_.take_if("<")) return accum(std::move(dst), t);
  if (!lex_.take_if("=")) lex_.fail("`[`, `:`, `=` or `<-`");
  return assignment(std::move(dst), t);
}

Stmt Parser::assignment(std::string dst, Type t) {
  if (t == Type{} && lex_.take_if("Stage")) return stage(std::move(dst));
  if (lex_.take_if("load")) {
    Load l{std::move(dst), t, name("a buffer"), {}};
    lex_.expect("[");
    l.index = indices("]");
    return l;
  }
  if (lex_.take_if("index")) return Index{std::move(dst), t, expression()};
  Assign a{std::move(dst), t, op(), {}};
  lex_.expect("(");
  a.args = operands(a.op);
  return a;
}

std::vector<Arg> Parser::operands(Op op) {
  const int count = arity(op);
  std::vector<Arg> args;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && !lex_.take_if(",")) lex_.fail(fmt::format("`,` and another argument of {}", ir::name(op)));
    args.push_back(argument());
  }
  if (!lex_.take_if(")"))
    lex_.fail(fmt::format("`)` after {} argument{} of {}", count, count == 1 ? "" : "s", ir::name(op)));
  return args;
}

Stmt Parser::accum(std::string dst, Type t) {
  lex_.expect("-");
  Accum a{std::move(dst), t, op(), {}};
  lex_.expect("(");
  if (!lex_.peek().is(a.dst)) lex_.fail(fmt::format("`{}`", a.dst));
  a.args = operands(a.op);
  a.args.erase(a.args.begin());
  return a;
}

Stmt Parser::write(std::string buffer) {
  Write w;
  w.buffer = std::move(buffer);
  w.index = indices("]");
  if (lex_.take_if(":")) {
    const Token t = lex_.peek();
    w.lanes = lanes_of(t, t.text);
    lex_.take();
  }
  if (lex_.take_if("+="))
    w.mode = WriteMode::add;
  else
    lex_.expect("=");
  w.value = argument();
  return w;
}

Stmt Parser::stage(std::string buffer) {
  Stage s;
  std::int64_t elements = 1;
  s.buffer = std::move(buffer);
  lex_.expect("(");
  s.source = name("a buffer");
  for (const char* word : {",", "origin", "=", "("}) lex_.expect(word);
  s.origin = indices(")");
  for (const char* word : {",", "slab", "=", "("}) lex_.expect(word);
  separated(")", [&] {
    SlabAxis a;
    a.name = new_name("an axis");
    lex_.expect(":");
    a.extent = extent(elements);
    lex_.expect("@");
    a.dim = static_cast<int>(integer("a dimension", 0, 63));
    s.slab.push_back(std::move(a));
  });
  lex_.expect(")");
  return s;
}

}  // namespace deplo::ir
