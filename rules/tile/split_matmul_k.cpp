// split_matmul_k: the chunk loop of K becomes a dimension of the grid.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule split_matmul_k = {"split_matmul_k", decide, apply};

}  // namespace deplo::rules
