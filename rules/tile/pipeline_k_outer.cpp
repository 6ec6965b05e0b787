// pipeline_k_outer: the chunk loop becomes prologue, steady state and epilogue.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule pipeline_k_outer = {"pipeline_k_outer", decide, apply};

}  // namespace deplo::rules
