// Parsers of the statements of Tile IR that have no form (forms.h).
#include "ir/text/statements.h"
#include "ir/text/words.h"

namespace deplo::ir::text {
namespace {

Stmt tile(Terms& in) {
  Tile t;
  std::int64_t threads = 1;
  in.expect({"(", "axes", "=", "("});
  in.separated(")", [&] {
    Axis a;
    a.name = in.new_name("an axis");
    in.expect(":");
    a.extent = in.extent(threads);
    in.expect("=");
    a.bind = in.bind_word(Bind::block, Bind::vector, "BLOCK, CLUSTER, THREAD, REG or VECTOR");
    t.axes.push_back(std::move(a));
  });
  if (in.take_if(",")) t.resident = in.field("resident", 1, 1024);
  in.expect({")", ":"});
  t.body = nested(in);
  return t;
}

void stage_options(Terms& in, Stage& s) {
  s.panel = in.option("panel", 0, max_extent);
  s.pad = in.option("pad", 0, 1 << 16);
  s.swizzle = static_cast<int>(in.option("swizzle", 0, 128));
  s.lanes = static_cast<int>(in.option("lanes", 0, 16));
  s.pairs = in.take_if("pairs");
  s.prefetch = static_cast<int>(in.option("prefetch", 0, 1024));
  s.slots = static_cast<int>(in.option("buffers", 1, 64));
  if (s.slots > 1) {
    in.expect("@");
    s.slot = in.expression();
  }
  for (const Transport t : {Transport::ahead, Transport::async, Transport::tma})
    if (in.take_if(name(t))) s.transport = t;
  if (in.take_if("when")) {
    in.expect("=");
    s.when = in.expression();
  }
}

}  // namespace

Stmt stage(Terms& in, std::string buffer, DType dtype) {
  Stage s;
  s.dtype = dtype;
  std::int64_t elements = 1;
  s.buffer = std::move(buffer);
  in.expect("(");
  s.source = in.name("a buffer");
  in.expect({",", "origin", "=", "("});
  s.origin = in.indices(")");
  in.expect({",", "slab", "=", "("});
  in.separated(")", [&] {
    SlabAxis a;
    a.name = in.new_name("an axis");
    in.expect(":");
    a.extent = in.extent(elements);
    a.dim = in.take_if("@") ? static_cast<int>(in.integer("a dimension", 0, 63)) : SlabAxis::in_origin;
    s.slab.push_back(std::move(a));
  });
  in.expect(")");
  stage_options(in, s);
  return s;
}

Stmt scale(Terms& in, std::string acc, Type type) {
  Scale s{std::move(acc), type, 0.0};
  in.expect("(");
  if (!in.peek().is(s.acc)) in.fail("`" + s.acc + "`");
  in.name("an accumulator");
  in.expect(",");
  s.factor = in.argument();
  in.expect(")");
  return s;
}

std::span<const Keyword> tile_keywords() {
  static constexpr Keyword keywords[] = {{"Tile", tile}};
  return keywords;
}

}  // namespace deplo::ir::text
