// split_inner_for_swizzle: TMA's swizzle.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule split_inner_for_swizzle = {"split_inner_for_swizzle", decide, apply};

}  // namespace deplo::rules
