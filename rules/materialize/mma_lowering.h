// A loop that matrix instructions execute (ir/hardware/mma.h): fragments, each once, by ldmatrix or of what the threads
// make, then the products of all.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "rules/materialize/kernel_builder.h"
#include "rules/materialize/replication.h"
#include "rules/materialize/stage_lowering.h"

namespace deplo::rules::materializer {

/// Of each buffer that warps keep in registers, fragments of operand a: by the product's turn and the instance of its rows.
using KeptFragments = std::map<std::string, std::map<std::pair<std::int64_t, Instance>, std::string>, std::less<>>;
/// A Write to such a buffer: what a thread writes becomes its fragments of the one loop that reads them.
void keep_fragments(const ir::Write&, KernelBuilder&, const Replication&, const StageLowering&, KeptFragments&,
                    ir::Body& to);

/// What is under way when a loop's instructions are issued: of warpgroups, one group. Its sums are there behind the wait.
/// Registers that it reads are not to be written before: ptxas (13.0) sees to that within a trip of the loop around, but
/// loads the next trip's elements to the same registers.
struct UnderWay {
  std::vector<std::string> sums;
  bool reads_registers = false;
};
UnderWay lower_products(const ir::Loop&, KernelBuilder&, const Replication&, const StageLowering&, const KeptFragments&,
                        ir::Body& to);

}  // namespace deplo::rules::materializer
