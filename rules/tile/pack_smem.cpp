// pack_smem: a staged operand lies in panels.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule pack_smem = {"pack_smem", decide, apply};

}  // namespace deplo::rules
