// Statements about shared memory: stages, and those of Kernel IR alone.
#include <fmt/format.h>

#include "ir/text/parser.h"

namespace deplo::ir {

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
  stage_options(s);
  return s;
}

// `word=n`, or what it is when nothing is said.
std::int64_t Parser::option(const char* word, std::int64_t otherwise, std::int64_t high) {
  return lex_.take_if(word) ? (lex_.expect("="), integer("a number", 1, high)) : otherwise;
}

// `word=n` after a comma or an opening parenthesis has been read.
std::int64_t Parser::field(const char* word, std::int64_t low, std::int64_t high) {
  lex_.expect(word);
  lex_.expect("=");
  return integer("a number", low, high);
}

void Parser::stage_options(Stage& s) {
  s.panel = option("panel", 0, kMaxExtent);
  s.pad = option("pad", 0, 1 << 16);
  s.swizzle = static_cast<int>(option("swizzle", 0, 128));
  s.lanes = static_cast<int>(option("lanes", 0, 16));
  s.prefetch = static_cast<int>(option("prefetch", 0, 1024));
  s.slots = static_cast<int>(option("buffers", 1, 64));
  if (s.slots > 1) {
    lex_.expect("@");
    s.slot = expression();
  }
  for (const Transport t : {Transport::ahead, Transport::async, Transport::tma})
    if (lex_.take_if(ir::name(t))) s.transport = t;
}

Stmt Parser::async_wait() {
  AsyncWait s;
  lex_.expect("(");
  s.keep = field("keep", 0, 64);
  if (lex_.take_if(",")) {
    for (const char* word : {"phase", "="}) lex_.expect(word);
    s.phase = expression();
    for (const char* word : {",", "slot", "="}) lex_.expect(word);
    s.slot = expression();
  }
  lex_.expect(")");
  return s;
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
  s.align = option("align", Smem{}.align, 1 << 16);
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

Stmt Parser::warp_shuffle() {
  WarpShuffle s;
  lex_.expect("(");
  s.dst = new_name("a value");
  if (lex_.take_if(":")) s.type = type();
  for (const char* word : {"<", "-"}) lex_.expect(word);
  s.value = name("a value");
  lex_.expect(",");
  s.op = op_field();
  lex_.expect(",");
  s.length = field("length", 1, 1024);
  lex_.expect(")");
  return s;
}

// `name[index]`
std::string Parser::element(std::vector<Expr>& index) {
  std::string buffer = name("a buffer");
  lex_.expect("[");
  index = indices("]");
  return buffer;
}

// `name[slot]`
std::string Parser::slot_of(Expr& slot) {
  std::string barrier = name("a barrier");
  lex_.expect("[");
  slot = expression();
  lex_.expect("]");
  return barrier;
}

Stmt Parser::prefetch() {
  Prefetch s;
  lex_.expect("(");
  s.buffer = element(s.index);
  if (lex_.take_if(",")) {
    lex_.expect("write");
    s.write = true;
  }
  lex_.expect(")");
  return s;
}

Stmt Parser::cp_async_copy() {
  CpAsyncCopy s;
  lex_.expect("(");
  s.buffer = element(s.index);
  lex_.expect(",");
  s.source = element(s.at);
  lex_.expect(",");
  s.lanes = static_cast<int>(field("lanes", 1, 16));
  lex_.expect(")");
  return s;
}

Stmt Parser::cp_async_wait() {
  lex_.expect("(");
  const CpAsyncWait s = {field("keep", 0, 64)};
  lex_.expect(")");
  return s;
}

Stmt Parser::mbarrier_init() {
  MbarrierInit s;
  s.barrier = new_name("a barrier");
  lex_.expect("[");
  s.slots = integer("a number of barriers", 1, 64);
  for (const char* word : {"]", "("}) lex_.expect(word);
  s.count = field("count", 1, 1024);
  lex_.expect(")");
  return s;
}

Stmt Parser::mbarrier_arrive() {
  MbarrierArriveExpectTx s;
  lex_.expect("(");
  s.barrier = slot_of(s.slot);
  lex_.expect(",");
  s.bytes = field("bytes", 0, kMaxExtent);
  lex_.expect(")");
  return s;
}

Stmt Parser::mbarrier_wait() {
  MbarrierWait s;
  lex_.expect("(");
  s.barrier = slot_of(s.slot);
  for (const char* word : {",", "phase", "="}) lex_.expect(word);
  s.phase = expression();
  lex_.expect(")");
  return s;
}

Stmt Parser::tma_descriptor() {
  TmaDescriptor s;
  std::int64_t elements = 1;
  s.name = new_name("a descriptor");
  lex_.expect("(");
  s.source = name("a buffer");
  for (const char* word : {",", "box", "=", "("}) lex_.expect(word);
  separated(")", [&] { s.box.push_back(extent(elements)); });
  lex_.expect(")");
  s.swizzle = static_cast<int>(option("swizzle", 0, 128));
  return s;
}

Stmt Parser::tma_load() {
  TmaLoad s;
  lex_.expect("(");
  s.buffer = element(s.index);
  lex_.expect(",");
  s.descriptor = element(s.coordinates);
  lex_.expect(",");
  s.barrier = slot_of(s.slot);
  lex_.expect(")");
  return s;
}

}  // namespace deplo::ir
