// Makes stores of 16-bit results of matrix instructions fill whole sectors of memory. Private to rules/materialize.
#pragma once
#include "ir/program.h"
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Rewrites stores of 16-bit results. In each row of 16 x 8 sums, four neighbouring threads have 16 bytes of f16 or
/// bf16, while a sector of memory has 32 bytes. Each of four stores of two elements covers one place. If each thread
/// can store eight elements at one of these places instead, the threads transpose their values (ir::QuadTranspose), and
/// each stores 16 bytes: half a row of 32 bytes, or a quarter of 64.
void store_whole_sectors(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
