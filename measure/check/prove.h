// Proves that a kernel computes the formulas of its Loop IR (docs/proofs.md), and tells the order in which it does
// (docs/determinism.md).
#pragma once
#include <cstdint>

#include "ir/interpret/fingerprint.h"
#include "ir/interpret/proof.h"
#include "measure/check/inputs.h"

namespace deplo::measure {

/// `kernel`: Tile or Kernel IR of a schedule of `loop`. Takes seconds; a large problem is proved in part. The integers
/// among the inputs are those of make_reference() with this seed.
ir::ProofVerdict prove(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                       const InputFiles& files = {});

/// The fingerprint of that kernel, with the same integers.
ir::Fingerprint fingerprint_of(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                               const InputFiles& files = {});
/// That of a row of its outputs.
ir::Fingerprint row_fingerprint_of(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                                   const InputFiles& files = {});

struct Findings {
  ir::ProofVerdict proof;
  ir::Fingerprint fingerprint, row_fingerprint;
};
/// prove(), fingerprint_of() and row_fingerprint_of() at the same time, each on a thread.
Findings examine(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed, const InputFiles& files = {});

}  // namespace deplo::measure
