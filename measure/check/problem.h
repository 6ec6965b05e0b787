// One kernel to be tuned on one device: its inputs, its arrays there, and what the outputs must be.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/outcome.h"
#include "ir/program.h"
#include "measure/check/inputs.h"
#include "measure/check/verdict.h"
#include "measure/device.h"
#include "measure/protocol/operand_sets.h"
#include "measure/protocol/probe.h"
#include "measure/protocol/protocol.h"
#include "measure/protocol/sampler.h"

namespace deplo::measure {

/// What ran since the outputs were poisoned: the whole grid, or a prefix of it, after which poison is no mistake.
enum class Coverage : std::uint8_t { whole, prefix };

/// What the outputs must be, in double: every element of a small problem, else some of them.
struct Reference {
  struct Element : Expected {  // its rounding is 0 unless that was asked for
    std::int64_t offset = 0;
  };
  struct Output {
    std::size_t buffer = 0;  // index in the program's buffers
    std::vector<Element> elements;
    double scale = 1;  // as of Scale
  };
  std::vector<Output> outputs;
};

/// For results of operands rounded to TF32: ten times their mean error. It would not find a wrong index in a kernel of
/// ours, but it tells whether a library computes this product.
inline constexpr double tf32_tolerance = 5e-3;

/// At most this many statement executions: the reference is complete (a second or less), else at least 64 elements.
inline constexpr double small_problem = 4e6;

/// The inputs are random (random_input in measure/check/inputs.h), the same for the same seed and in each set of
/// operands. The device and the probe must outlive it. Not thread-safe.
class Problem {
 public:
  /// `loop` is verified Loop IR. `probe`: of the device; without it no time is implausible. Throws Error(environment)
  /// when the device or the host has not enough memory.
  Problem(const ir::Program& loop, Device& device, std::uint64_t seed, Probe* probe = nullptr,
          double tolerance = default_tolerance, InputFiles files = {});

  const ir::Program& loop() const { return loop_; }
  Device& device() { return device_; }
  Probe* probe() { return probe_; }
  OperandSets& sets() { return sets_; }
  /// Of screening all candidates: what the clock was meanwhile.
  Sampler& screening(double least_clock);
  /// The first set, the one that is checked.
  Arrays& arrays() { return sets_[0]; }
  void poison_outputs();

  /// Why the outputs of the first set are wrong: guard_hit, or wrong_result with index, expected, found and error;
  /// nullopt: they are right. measure/check/verdict.h judges each element. The tolerance is the problem's, at least
  /// `least`. Computes the reference on first use; throws Error when an output of the kernel itself has no finite
  /// element.
  std::optional<Failure> check(Coverage, double least = 0);
  /// Of all bits of the outputs that were checked last.
  std::uint64_t checked_bits() const { return checked_bits_; }
  const Reference& reference();

  /// Why a launch, one of a batch, cannot have taken as little: implausible, with what is in the way. The device's
  /// ceilings are measured again before that is said.
  std::optional<Failure> implausible(double us, int batch, double plausible);

 private:
  double least_us(int batch) const;
  std::optional<Failure> find_nan(std::size_t output, const ir::Numbers& found);

  ir::Program loop_;
  Device& device_;
  Probe* probe_;
  OperandSets sets_;
  std::uint64_t seed_;
  double tolerance_;
  InputFiles files_;
  ir::Work least_;  // what no schedule can avoid
  std::optional<Sampler> screening_;
  std::optional<Reference> reference_;
  bool rounding_ = false;  // the reference has it
  std::uint64_t checked_bits_ = 0;
};

}  // namespace deplo::measure
