// Proves that the CUDA source of a candidate computes the formulas of its Loop IR: NVRTC compiles the source to PTX,
// and the PTX machine executes the PTX in exact arithmetic (docs/proofs.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/outcome.h"
#include "ir/interpret/proof.h"
#include "measure/check/inputs.h"
#include "measure/device.h"

namespace deplo::measure::ptx {

/// The inputs and outputs of a kernel in exact arithmetic. The outputs of candidates are compared with them.
class EmittedProof {
 public:
  /// `loop` must have its index ranges, as for prove(). The program must be small, because all of it is executed.
  EmittedProof(const ir::Program& loop, std::uint64_t seed, const InputFiles& = {});

  /// Compiles the source for an architecture such as "sm_90" and executes it. `order`: the seed of the interleaving. A
  /// Finding refutes the candidate. Throws Error(environment) if there is no NVRTC.
  ir::ProofVerdict verdict(const KernelCode&, std::string_view architecture, std::uint64_t order = 0) const;
  /// The verdict for PTX that was compiled from the candidate's source with the prelude.
  ir::ProofVerdict verdict_of_ptx(const std::string& text, const KernelCode&, std::uint64_t order = 0) const;
  /// Compiles the candidate's source, with the prelude, to PTX.
  static Result<std::string> compile(const KernelCode&, std::string_view architecture);

 private:
  std::string difference(const std::string& text, const KernelCode&, std::uint64_t order) const;

  ir::Program loop_;
  std::optional<ir::Proof> proof_;  // nullopt if the program is too large; too_large_ says why
  std::string too_large_;
};

}  // namespace deplo::measure::ptx
