// raster: the order of the blocks of a matmul.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule raster = {"raster", decide, apply};

}  // namespace deplo::rules
