// A loop that matrix instructions execute (ir/hardware/mma.h): fragments by ldmatrix, each once, then the products of all.
#pragma once
#include "ir/program.h"
#include "rules/materialize/kernel_builder.h"
#include "rules/materialize/replication.h"
#include "rules/materialize/stage_lowering.h"

namespace deplo::rules::materializer {

/// What is under way when a loop's instructions are issued: of warpgroups, one group; its sums are there behind the wait.
using SumsUnderWay = std::vector<std::string>;
SumsUnderWay lower_products(const ir::Loop&, KernelBuilder&, Replication&, const StageLowering&, ir::Body& to);

}  // namespace deplo::rules::materializer
