// permute_register_tile: the order of the register strip.
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

Verdict decide(const ir::Program&, const Target&, std::span<const Choice>) { return Skip{"not built yet"}; }
ir::Program apply(ir::Program program, const Target&, std::span<const Choice>) { return program; }

}  // namespace

const Rule permute_register_tile = {"permute_register_tile", decide, apply};

}  // namespace deplo::rules
