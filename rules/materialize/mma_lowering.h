// Lowers a loop that matrix instructions execute (ir/hardware/mma.h): makes each fragment once, by ldmatrix or from
// values that the threads compute, and then emits all products.
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

/// For each buffer that warps keep in registers: the names of its fragments of operand a, by the product's turn and the
/// instance of the rows.
using KeptFragments = std::map<std::string, std::map<std::pair<std::int64_t, Instance>, std::string>, std::less<>>;
/// Lowers a Write to such a buffer: the values that a thread writes become its fragments for the one loop that reads
/// them.
void keep_fragments(const ir::Write&, KernelBuilder&, const Replication&, const StagePlaces&, KeptFragments&,
                    ir::Body& to);

/// What is in flight after a loop's instructions were issued: one group of warpgroup instructions, or nothing. The sums
/// are valid after the wait. Registers that the group reads must not be written before the wait. ptxas (13.0) ensures
/// this within an iteration of the surrounding loop, but loads the next iteration's elements to the same registers.
struct UnderWay {
  std::vector<std::string> sums;
  bool reads_registers = false;
};
UnderWay lower_products(const ir::Loop&, KernelBuilder&, const Replication&, const StagePlaces&, const KeptFragments&,
                        ir::Body& to);

}  // namespace deplo::rules::materializer
