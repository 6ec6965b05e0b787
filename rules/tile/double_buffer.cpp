// double_buffer: the stages of a chunk loop get several slots.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule double_buffer = {"double_buffer", decide, apply};

}  // namespace deplo::rules
