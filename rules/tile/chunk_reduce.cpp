// chunk_reduce: a reduce sweep that is no matmul's becomes a loop over chunks that fit shared memory.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule chunk_reduce = {"chunk_reduce", decide, apply};

}  // namespace deplo::rules
