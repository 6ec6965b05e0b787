// Proves that the CUDA source of a candidate computes the formulas of its Loop IR: the PTX machine executes the PTX
// that NVRTC makes of it in exact arithmetic (docs/proofs.md).
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

/// What stands before the source of a candidate. It replaces functions that NVRTC computes with the bits of floats,
/// such as expf, by instructions of the machine (exact.cpp).
std::string exact_prelude();

/// The inputs and outputs of a kernel in exact arithmetic, with which what candidates compute is compared.
class EmittedProof {
 public:
  /// `loop` with its index ranges, as of prove(). The program must be small: all of it is executed.
  EmittedProof(const ir::Program& loop, std::uint64_t seed, const InputFiles& = {});

  /// Compiles the source for the architecture ("sm_90") and executes it. `order`: the seed of the interleaving.
  /// Findings refute a candidate. Throws Error(environment) without NVRTC.
  ir::ProofVerdict verdict(const KernelCode&, std::string_view architecture, std::uint64_t order = 0) const;
  /// Of PTX that was made of the candidate's source, with the prelude.
  ir::ProofVerdict verdict_of_ptx(const std::string& text, const KernelCode&, std::uint64_t order = 0) const;
  /// That PTX.
  static Result<std::string> compile(const KernelCode&, std::string_view architecture);

 private:
  std::string difference(const std::string& text, const KernelCode&, std::uint64_t order) const;

  ir::Program loop_;
  std::optional<ir::Proof> proof_;  // nullopt: too_large_ says why
  std::string too_large_;
};

}  // namespace deplo::measure::ptx
