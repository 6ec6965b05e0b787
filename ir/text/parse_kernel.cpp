// Parsers of the statements that Kernel IR adds.
#include <type_traits>

#include "ir/text/statements.h"

namespace deplo::ir::text {
namespace {

Stmt smem(Terms& in) {
  Smem s;
  std::int64_t elements = 1;
  s.buffer = in.new_name("a buffer");
  in.expect("[");
  in.separated("]", [&] { s.shape.push_back(in.extent(elements)); });
  in.expect("(");
  s.dtype = in.dtype();
  in.expect(")");
  s.align = in.option("align", Smem{}.align, 1 << 16);
  s.registers = in.take_if("registers");
  return s;
}

Stmt init(Terms& in) {
  Init i;
  i.acc = in.new_name("an accumulator");
  if (in.take_if(":")) i.type = in.type();
  in.expect(",");
  i.op = in.op_field();
  return i;
}

Stmt tree_halve(Terms& in) {
  TreeHalve t;
  t.buffer = in.name("a buffer");
  if (in.take_if("[")) t.prefix = in.indices("]");
  in.expect(",");
  t.op = in.op_field();
  in.expect({",", "length", "="});
  t.length = in.integer("a length", 1, max_extent);
  in.expect({",", "tid", "="});
  t.tid = in.expression();
  return t;
}

Stmt warp_shuffle(Terms& in) {
  WarpShuffle s;
  s.dst = in.new_name("a value");
  if (in.take_if(":")) s.type = in.type();
  in.expect({"<", "-"});
  s.value = in.name("a value");
  in.expect(",");
  s.op = in.op_field();
  in.expect(",");
  s.length = in.field("length", 1, 1024);
  return s;
}

Stmt ld_matrix(Terms& in) {
  LdMatrix s;
  s.dst = in.new_name("a value");
  in.expect(":");
  s.type = in.type();
  in.expect({"<", "-"});
  in.element(s.buffer, s.index);
  s.transposed = in.flag("transposed");
  return s;
}

// Reads `Pack(in2:bf16x8 <- in0, in1, v0, v1)`, or another statement of this form.
template <class S>
Stmt joined(Terms& in) {
  S s;
  s.dst = in.new_name("a value");
  in.expect(":");
  s.type = in.type();
  in.expect({"<", "-"});
  s.values = in.names("a value");
  return s;
}

// Reads `Mma(acc0, acc1 <- in0, in1, part=2, atom=m16n8k16)`.
Stmt mma(Terms& in) {
  Mma s;
  do s.sums.push_back(in.name("an accumulator"));
  while (s.sums.size() < 4 && in.take_if(","));
  in.expect({"<", "-"});
  s.a = in.name("a value");
  in.expect(",");
  s.b = in.name("a value");
  in.expect(",");
  s.part = in.field("part", 0, 2);
  in.expect({",", "atom", "="});
  s.atom = in.name("a matrix instruction");
  return s;
}

// Reads a shared matrix from after its buffer's name.
SharedMatrix shared_matrix(Terms& in, std::string buffer) {
  SharedMatrix m;
  m.buffer = std::move(buffer);
  in.expect("[");
  m.index = in.indices("]");
  m.transposed = in.take_if("transposed");
  m.swizzle = static_cast<int>(in.field("swizzle", 0, 128));
  m.leading = in.option("leading", 0, 1 << 18);
  return m;
}

// Reads `CopyPairs(b_smem[0, 0], b[a0, 0], dim=0)` or `CopyTransposed(k_smem[0, 0], k[a0, 0], dim=0, size=16)`.
template <class S>
Stmt copy_block(Terms& in) {
  S s;
  in.element(s.buffer, s.index);
  in.expect(",");
  in.element(s.source, s.at);
  in.expect(",");
  s.dim = static_cast<int>(in.field("dim", 0, 64));
  if constexpr (std::is_same_v<S, CopyTransposed>) {
    in.expect(",");
    s.size = static_cast<int>(in.field("size", 1, 16));
  }
  return s;
}

// Reads `DotPairs(acc0 <- a[0, (2 * a1)], b_smem[a1, 0])`.
Stmt dot_pairs(Terms& in) {
  DotPairs s;
  s.acc = in.name("an accumulator");
  in.expect({"<", "-"});
  in.element(s.a, s.at_a);
  in.expect(",");
  in.element(s.b, s.at_b);
  return s;
}

// Reads a Wgmma in one of the forms
//   Wgmma(acc0, acc1 <- a[0, 0] swizzle=128, b[0, 0, 0] transposed swizzle=128 leading=8192, atom=m64n8k16)
//   Wgmma(acc0, acc1 <- in0, b[0, 0, 0] swizzle=128, atom=m64n8k16)
Stmt wgmma(Terms& in) {
  Wgmma s;
  s.sums = in.names("an accumulator");
  in.expect({"<", "-"});
  std::string a = in.name("a value or a buffer");
  if (in.take_if(","))
    s.a = std::move(a);
  else
    s.a = shared_matrix(in, std::move(a)), in.expect(",");
  s.b = shared_matrix(in, in.name("a buffer"));
  in.expect({",", "atom", "="});
  s.atom = in.name("a matrix instruction");
  return s;
}

// Reads `WgmmaFence(acc0, acc1 <- in0, in1)`.
Stmt wgmma_fence(Terms& in) {
  WgmmaFence s;
  s.sums = in.names("an accumulator");
  if (in.take_if("<")) {
    in.expect("-");
    s.fragments = in.names("a value");
  }
  return s;
}

Stmt wgmma_wait(Terms& in) {
  WgmmaWait s;
  s.keep = in.field("keep", 0, 7);
  while (in.take_if(",")) s.sums.push_back(in.name("an accumulator"));
  return s;
}

Stmt cluster_load(Terms& in) {
  ClusterLoad s;
  s.dst = in.new_name("a value");
  if (in.take_if(":")) s.type = in.type();
  in.expect({"<", "-"});
  in.element(s.buffer, s.index);
  in.expect({",", "block", "="});
  s.block = in.expression();
  return s;
}

Stmt cp_async_copy(Terms& in) {
  CpAsyncCopy s;
  in.element(s.buffer, s.index);
  in.expect(",");
  in.element(s.source, s.at);
  in.expect(",");
  s.lanes = static_cast<int>(in.field("lanes", 1, 16));
  return s;
}

Stmt cp_async_wait(Terms& in) { return CpAsyncWait{in.field("keep", 0, 64)}; }

Stmt mbarrier_init(Terms& in) {
  MbarrierInit s;
  s.barrier = in.new_name("a barrier");
  in.expect("[");
  s.slots = in.integer("a number of barriers", 1, 64);
  in.expect({"]", "("});
  s.count = in.field("count", 1, 1024);
  in.expect(")");
  return s;
}

Stmt mbarrier_arrive_expect_tx(Terms& in) {
  MbarrierArriveExpectTx s;
  in.slot(s.barrier, s.slot);
  in.expect(",");
  s.bytes = in.field("bytes", 0, max_extent);
  return s;
}

Stmt mbarrier_arrive(Terms& in) {
  MbarrierArrive s;
  in.slot(s.barrier, s.slot);
  if (in.take_if(",")) {
    in.expect({"block", "="});
    s.block = in.expression();
  }
  return s;
}

// Reads `Produce(threads=128, own=24, others=240): …`.
Stmt produce(Terms& in) {
  Produce s;
  in.expect("(");
  s.threads = in.field("threads", 1, 1024);
  if (in.take_if(",")) {
    s.own = in.field("own", 1, 255);
    in.expect(",");
    s.others = in.field("others", 1, 255);
  }
  in.expect({")", ":"});
  s.body = nested(in);
  return s;
}

Stmt mbarrier_wait(Terms& in) {
  MbarrierWait s;
  in.slot(s.barrier, s.slot);
  in.expect({",", "phase", "="});
  s.phase = in.expression();
  return s;
}

Stmt tma_descriptor(Terms& in) {
  TmaDescriptor s;
  std::int64_t elements = 1;
  s.name = in.new_name("a descriptor");
  in.expect("(");
  s.source = in.name("a buffer");
  in.expect({",", "box", "=", "("});
  in.separated(")", [&] { s.box.push_back(in.extent(elements)); });
  in.expect(")");
  s.swizzle = static_cast<int>(in.option("swizzle", 0, 128));
  return s;
}

Stmt tma_load(Terms& in) {
  TmaLoad s;
  in.element(s.buffer, s.index);
  in.expect(",");
  in.element(s.descriptor, s.coordinates);
  in.expect(",");
  in.slot(s.barrier, s.slot);
  s.multicast = in.flag("multicast");
  return s;
}

}  // namespace

std::span<const Keyword> kernel_keywords() {
  static constexpr Keyword keywords[] = {
      {"Smem", smem},
      {"Init", enclosed<init>},
      {"Sync", [](Terms&) -> Stmt { return Sync{}; }},
      {"TreeHalve", enclosed<tree_halve>},
      {"WarpShuffle", enclosed<warp_shuffle>},
      {"LdMatrix", enclosed<ld_matrix>},
      {"Pack", enclosed<joined<Pack>>},
      {"QuadTranspose", enclosed<joined<QuadTranspose>>},
      {"Mma", enclosed<mma>},
      {"CopyPairs", enclosed<copy_block<CopyPairs>>},
      {"CopyTransposed", enclosed<copy_block<CopyTransposed>>},
      {"DotPairs", enclosed<dot_pairs>},
      {"Wgmma", enclosed<wgmma>},
      {"WgmmaFence", enclosed<wgmma_fence>},
      {"WgmmaCommit", [](Terms&) -> Stmt { return WgmmaCommit{}; }},
      {"WgmmaWait", enclosed<wgmma_wait>},
      {"ClusterSync", [](Terms&) -> Stmt { return ClusterSync{}; }},
      {"ClusterLoad", enclosed<cluster_load>},
      {"CpAsyncCopy", enclosed<cp_async_copy>},
      {"CpAsyncCommit", [](Terms&) -> Stmt { return CpAsyncCommit{}; }},
      {"CpAsyncWait", enclosed<cp_async_wait>},
      {"ProxyFence", [](Terms&) -> Stmt { return ProxyFence{}; }},
      {"MbarrierInit", mbarrier_init},
      {"MbarrierArriveExpectTx", enclosed<mbarrier_arrive_expect_tx>},
      {"MbarrierArrive", enclosed<mbarrier_arrive>},
      {"MbarrierWait", enclosed<mbarrier_wait>},
      {"TmaDescriptor", tma_descriptor},
      {"TmaLoad", enclosed<tma_load>},
      {"Produce", produce},
  };
  return keywords;
}

}  // namespace deplo::ir::text
