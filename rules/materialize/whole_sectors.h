// Stores of 16-bit results of matrix instructions that fill whole sectors of memory. Private to rules/materialize.
#pragma once
#include "ir/program.h"
#include "rules/materialize/kernel_builder.h"

namespace deplo::rules::materializer {

/// Of a row of 16 x 8 sums, four neighbouring threads have 16 bytes of f16 or bf16, and memory has sectors of 32. Where
/// four stores of two elements lie so that each thread could as well store eight elements in one of the four places,
/// the threads transpose their values (ir::QuadTranspose), and each stores 16 bytes: half a row of 32 bytes, or a
/// quarter of 64.
void store_whole_sectors(ir::Body&, KernelBuilder&);

}  // namespace deplo::rules::materializer
