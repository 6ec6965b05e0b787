// Copies as pairs, transposed copies, and dot products of pairs; only in OpenCL on CPUs. 16 pairs are a vector of
// 32-bit words.
#include "core/error.h"
#include "ir/emit/statements.h"
#include "ir/hardware/pairs.h"

namespace deplo::ir::emitter {

void emit(KernelText& k, const CopyPairs& s) {
  CHECK(k.spell.vectors);
  k.functions.call(Helper::bf16_pairs);
  k.print("(({} bf16_pairs*)&{})->words = convert_uint16(vload16(0, &{})) | convert_uint16(vload16(0, &{})) << 16;",
          k.names.memory.at(s.buffer).space, k.names.element(s.buffer, s.index), k.names.element(s.source, s.at),
          k.names.element(s.source, s.next()));
}

void emit(KernelText& k, const CopyTransposed& s) {
  CHECK(k.spell.vectors);
  k.functions.call(Helper::copy_transposed, s.size);
  k.print("simd_copy_transposed{}(&{}, {}, &{}, {});", s.size, k.names.element(s.buffer, s.index),
          k.names.memory.at(s.buffer).strides.end()[-2], k.names.element(s.source, s.at),
          k.names.memory.at(s.source).strides[static_cast<std::size_t>(s.dim)]);
}

void emit(KernelText& k, const DotPairs& s) {
  CHECK(k.spell.vectors);
  k.functions.call(Helper::bf16_pairs);
  k.functions.call(Helper::bf16_dot);
  k.print("{0} = bf16_dot({0}, as_uint(vload2(0, &{1})), ((const {2} bf16_pairs*)&{3})->words);", s.acc,
          k.names.element(s.a, s.at_a), k.names.memory.at(s.b).space, k.names.element(s.b, s.at_b));
}

}  // namespace deplo::ir::emitter
