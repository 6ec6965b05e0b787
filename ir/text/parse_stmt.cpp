// Statements and their indentation.
#include <fmt/format.h>

#include "ir/text/parser.h"

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
  Stmt s = line();
  lex_.next_line();
  return s;
}

// A statement that holds no others.
Stmt Parser::line() {
  if (lex_.take_if("Prefetch")) return prefetch();
  if (lex_.take_if("Combine")) return combine();
  if (lex_.take_if("AsyncWait")) return async_wait();
  if (lex_.take_if("Smem")) return smem();
  if (lex_.take_if("Init")) return init();
  if (lex_.take_if("TreeHalve")) return tree_halve();
  if (lex_.take_if("Sync")) return Sync{};
  if (lex_.take_if("WarpShuffle")) return warp_shuffle();
  if (lex_.take_if("CpAsyncCopy")) return cp_async_copy();
  if (lex_.take_if("CpAsyncCommit")) return CpAsyncCommit{};
  if (lex_.take_if("CpAsyncWait")) return cp_async_wait();
  if (lex_.take_if("MbarrierInit")) return mbarrier_init();
  if (lex_.take_if("MbarrierArriveExpectTx")) return mbarrier_arrive();
  if (lex_.take_if("MbarrierWait")) return mbarrier_wait();
  if (lex_.take_if("TmaDescriptor")) return tma_descriptor();
  if (lex_.take_if("TmaLoad")) return tma_load();
  return named(new_name("a statement"));
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
  if (lex_.take_if("per")) loop.per = name("an axis");
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

}  // namespace deplo::ir
