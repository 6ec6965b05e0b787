#include "engine/compile/compiled.h"

#include <utility>

#include "core/hash.h"
#include "ir/emit/emit.h"

namespace deplo::engine {

Compiled compile(const rules::Lowering& lowering) {
  CHECK(!lowering.fork());
  ir::Program kernel = rules::materialize(lowering.program(), lowering.target());
  ir::KernelSource source = emit(kernel, lowering.target());
  std::string digest = deplo::digest(source.text);
  return {lowering.trail(), {std::move(kernel), std::move(source)}, std::move(digest)};
}

}  // namespace deplo::engine
