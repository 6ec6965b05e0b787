// A loop that matrix instructions execute (ir/hardware/mma.h): fragments, each once, by ldmatrix or of what the threads
// make, then the products of all.
#pragma once
#include "ir/program.h"
#include "rules/materialize/kernel_builder.h"
#include "rules/materialize/replication.h"
#include "rules/materialize/stage_lowering.h"

namespace deplo::rules::materializer {

/// What is under way when a loop's instructions are issued: of warpgroups, one group. Its sums are there behind the wait.
/// Registers that it reads are not to be written before: ptxas (13.0) sees to that within a trip of the loop around, but
/// loads the next trip's elements to the same registers.
struct UnderWay {
  std::vector<std::string> sums;
  bool reads_registers = false;
};
UnderWay lower_products(const ir::Loop&, KernelBuilder&, Replication&, const StageLowering&, ir::Body& to);

}  // namespace deplo::rules::materializer
