#include "ir/emit/called_functions.h"

#include "ir/emit/float16.h"
#include "ir/emit/simd.h"

namespace deplo::ir::emitter {

std::string CalledFunctions::definitions(Dialect dialect) const {
  std::string text;
  for (const auto& [dtype, lanes] : float16) text += float16_definition(dtype, lanes, dialect) + "\n";
  for (const auto& [atom, dtype] : products) text += mma_definition(*atom, dtype) + "\n";
  for (const int lanes : tf32) text += tf32_definition(lanes, dialect) + "\n";
  for (const int lanes : simd_stores) text += simd_lanes_definition(lanes);
  for (const int lanes : simd_streams) text += simd_stream_definition(lanes);
  for (const auto& [op, lanes] : simd) text += simd_definition(op, lanes) + "\n";
  for (const auto& [helper, number] : helpers) text += definition(helper, number) + "\n";
  return text;
}

}  // namespace deplo::ir::emitter
