// One kernel to be tuned on one device: its inputs, its arrays on the device, and the expected outputs.
#pragma once
#include <cstdint>
#include <optional>

#include "core/outcome.h"
#include "ir/program.h"
#include "measure/check/output_check.h"
#include "measure/device.h"
#include "measure/protocol/operand_sets.h"
#include "measure/protocol/probe.h"
#include "measure/protocol/protocol.h"
#include "measure/protocol/sampler.h"

namespace deplo::measure {

/// The inputs come from `files`; an input without a file is random (random_input in measure/check/inputs.h). Inputs are
/// the same for the same seed, and in each set of operands. An output that has a file or a fill begins with these
/// values (KernelSource::restored). The device and the probe must outlive the Problem. Not thread-safe.
class Problem {
 public:
  /// `loop` must be verified Loop IR. `probe` must be of the same device; if it is null, no time is implausible. Throws
  /// Error(environment) if the device or the host does not have enough memory.
  Problem(const ir::Program& loop, Device& device, std::uint64_t seed, Probe* probe = nullptr,
          double tolerance = default_tolerance, const InputFiles& files = {}, Expectation expectation = {});

  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const ir::Program& loop() const { return loop_; }
  Device& device() { return device_; }
  Probe* probe() { return probe_; }
  OperandSets& sets() { return sets_; }
  /// Returns the Sampler for screening all candidates. It remembers the clocks of earlier samples.
  Sampler& screening(double least_clock);
  /// Returns the first set, whose outputs are checked.
  Arrays& arrays() { return sets_[0]; }

  // The functions of OutputCheck, for the outputs of the first set.
  void poison_outputs() { outputs_.poison_outputs(); }
  std::optional<Failure> check(Coverage coverage, double min_tolerance = 0) {
    return outputs_.check(coverage, min_tolerance);
  }
  std::uint64_t checked_bits() const { return outputs_.checked_bits(); }
  const Reference& reference() { return outputs_.reference(); }

  /// Returns implausible, with the reason, if a launch in a batch cannot have been as fast as `us`. Before it returns
  /// implausible, it measures the device's ceilings again. `plausible`: Protocol::plausible.
  std::optional<Failure> implausible(double us, int batch, double plausible);

 private:
  double least_us(int batch) const;

  ir::Program loop_;
  Device& device_;
  Probe* probe_;
  OperandSets sets_;
  OutputCheck outputs_;
  ir::Work min_work_;  // the work that no schedule can avoid
  std::optional<Sampler> screening_;
};

}  // namespace deplo::measure
