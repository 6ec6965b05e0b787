// Proves that a kernel computes the formulas of its Loop IR (docs/proofs.md), and finds the order in which it does so
// (docs/determinism.md).
#pragma once
#include <cstdint>

#include "ir/interpret/fingerprint.h"
#include "ir/interpret/proof.h"
#include "measure/check/inputs.h"

namespace deplo::measure {

/// Proves a kernel. `kernel`: Tile or Kernel IR of a schedule of `loop`. Takes seconds; a large problem is proved only
/// in part. Integer inputs have the values of make_reference() with this seed.
ir::ProofVerdict prove(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                       const InputFiles& files = {});

/// Returns the fingerprint of that kernel, with the same integer inputs.
ir::Fingerprint fingerprint_of(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                               const InputFiles& files = {});
/// Returns the fingerprint of one row of the kernel's outputs.
ir::Fingerprint row_fingerprint_of(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                                   const InputFiles& files = {});

struct Findings {
  ir::ProofVerdict proof;
  ir::Fingerprint fingerprint, row_fingerprint;
};
/// Runs prove(), fingerprint_of() and row_fingerprint_of() at the same time, each on its own thread.
Findings examine(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed, const InputFiles& files = {});

}  // namespace deplo::measure
