// Blocks that are turned, and dot products of pairs: OpenCL on CPUs only. 16 pairs are a vector of 32-bit words.
#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/hardware/pairs.h"

namespace deplo::ir {

void Emitter::emit(const CopyPairs& s) {
  CHECK(spell_.vectors);
  helpers_.insert(Helper::bf16_pairs);
  print("(({} bf16_pairs*)&{})->words = convert_uint16(vload16(0, &{})) | convert_uint16(vload16(0, &{})) << 16;",
        memory_.at(s.buffer).space, element(s.buffer, s.index), element(s.source, s.at), element(s.source, s.next()));
}

void Emitter::emit(const CopyTransposed& s) {
  CHECK(spell_.vectors);
  helpers_.insert(Helper::copy_transposed);
  print("simd_copy_transposed(&{}, {}, &{}, {});", element(s.buffer, s.index), memory_.at(s.buffer).strides.end()[-2],
        element(s.source, s.at), memory_.at(s.source).strides[static_cast<std::size_t>(s.dim)]);
}

void Emitter::emit(const DotPairs& s) {
  CHECK(spell_.vectors);
  helpers_.insert(Helper::bf16_pairs);
  helpers_.insert(Helper::bf16_dot);
  print("{0} = bf16_dot({0}, as_uint(vload2(0, &{1})), ((const {2} bf16_pairs*)&{3})->words);", s.acc,
        element(s.a, s.at_a), memory_.at(s.b).space, element(s.b, s.at_b));
}

}  // namespace deplo::ir
