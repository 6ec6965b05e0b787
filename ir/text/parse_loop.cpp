// Parsers of the statements of Loop IR.
#include <fmt/format.h>

#include "ir/text/statements.h"

namespace deplo::ir::text {
namespace {

// Reads the rest of a loop's line and the body below it.
Stmt marked(Terms& in, Loop loop) {
  in.expect(":");
  if (!in.take_marker()) in.fail("`# free`, `# reduce` or `# scan`");
  loop.axis.bind = in.bind_word(Bind::free, Bind::scan, "`free`, `reduce` or `scan`");
  if (in.take_if("unroll")) {
    loop.unroll = 0;
    if (in.take_if("=")) loop.unroll = static_cast<int>(in.integer("a number of copies", 2, 1 << 16));
  }
  if (in.take_if("per")) loop.per = in.name("an axis");
  if (in.take_if("mma")) {
    in.expect("=");
    loop.atom = in.name("a matrix instruction");
  }
  loop.producers = in.option("producers", 0, 1024);
  loop.pairs = in.take_if("pairs");
  loop.body = nested(in);
  return loop;
}

Stmt for_loop(Terms& in) {
  Loop loop;
  loop.axis.name = in.new_name("an axis");
  in.expect("in");
  in.integer("0", 0, 0);
  in.expect("..");
  const bool bounded = in.take_if("min");
  if (bounded) in.expect("(");
  loop.axis.extent = in.integer("an extent", 1, max_extent);
  if (bounded) {
    in.expect(",");
    loop.end = in.expression();
    in.expect(")");
  }
  return marked(in, std::move(loop));
}

Stmt strided_loop(Terms& in) {
  Loop loop;
  in.expect("(");
  loop.axis.name = in.new_name("an axis");
  in.expect("=");
  loop.start = in.expression();
  in.expect({";", "<"});
  loop.axis.extent = in.integer("an extent", 1, max_extent);
  in.expect({";", "+="});
  loop.step = in.integer("a step", 1, max_extent);
  in.expect(")");
  return marked(in, std::move(loop));
}

Stmt if_statement(Terms& in) {
  If s;
  s.condition = in.expression();
  in.expect(":");
  s.then = nested(in);
  return s;
}

Stmt assignment(Terms& in, std::string dst, Type t) {
  if (t.lanes == 1 && in.take_if("Stage")) return stage(in, std::move(dst), t.dtype);
  if (in.take_if("load")) {
    Load l{std::move(dst), t, in.name("a buffer"), {}};
    in.expect("[");
    l.index = in.indices("]");
    return l;
  }
  if (in.take_if("index")) return Index{std::move(dst), t, in.expression()};
  Assign a{std::move(dst), t, in.op(), {}};
  in.expect("(");
  a.args = in.arguments(a.op);
  return a;
}

Stmt accum(Terms& in, std::string dst, Type t) {
  in.expect("-");
  if (in.take_if("scale")) return scale(in, std::move(dst), t);
  Accum a{std::move(dst), t, in.op(), {}};
  in.expect("(");
  if (!in.peek().is(a.dst)) in.fail(fmt::format("`{}`", a.dst));
  a.args = in.arguments(a.op);
  a.args.erase(a.args.begin());
  return a;
}

Stmt softmax_sum(Terms& in, std::string maximum) {
  SoftmaxSum s;
  s.maximum = std::move(maximum);
  s.sums = in.names("an accumulator");
  in.expect({"<", "-", "softmax_sum", "("});
  s.score = in.argument();
  for (std::size_t i = 0; i < s.sums.size(); ++i) {
    in.expect(",");
    s.weights.push_back(in.argument());
  }
  in.expect(")");
  return s;
}

Stmt write(Terms& in, std::string buffer) {
  Write w;
  w.buffer = std::move(buffer);
  w.index = in.indices("]");
  if (in.take_if(":")) w.lanes = in.lanes();
  if (in.take_if("+="))
    w.mode = WriteMode::add;
  else
    in.expect("=");
  w.value = in.argument();
  if (w.mode == WriteMode::add && in.take_if("together")) w.mode = WriteMode::add_together;
  if (w.mode == WriteMode::assign && in.take_if("streamed")) w.mode = WriteMode::stream;
  return w;
}

}  // namespace

Stmt named(Terms& in, std::string dst) {
  if (in.take_if("[")) return write(in, std::move(dst));
  if (in.take_if(",")) return softmax_sum(in, std::move(dst));
  Type t;
  if (in.take_if(":")) t = in.type();
  if (in.take_if("<")) return accum(in, std::move(dst), t);
  if (!in.take_if("=")) in.fail("`[`, `,`, `:`, `=` or `<-`");
  return assignment(in, std::move(dst), t);
}

std::span<const Keyword> loop_keywords() {
  static constexpr Keyword keywords[] = {{"for", for_loop}, {"StridedLoop", strided_loop}, {"if", if_statement}};
  return keywords;
}

}  // namespace deplo::ir::text
