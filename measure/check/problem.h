// One kernel to be tuned on one device: its inputs, its arrays on the device, and the expected outputs.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "ir/program.h"
#include "measure/check/elements.h"
#include "measure/check/inputs.h"
#include "measure/check/verdict.h"
#include "measure/device.h"
#include "measure/protocol/operand_sets.h"
#include "measure/protocol/probe.h"
#include "measure/protocol/protocol.h"
#include "measure/protocol/sampler.h"

namespace deplo::measure {

/// The part of the grid that ran since the outputs were poisoned. After a prefix, poisoned elements are allowed.
enum class Coverage : std::uint8_t { whole, prefix };

/// The expected outputs, in double: every element of a small problem, else some of them.
struct Reference {
  struct Element : Expected {  // its rounding is 0 unless it was requested
    std::int64_t offset = 0;
  };
  struct Output {
    std::size_t buffer = 0;  // index in the program's buffers
    std::vector<Element> elements;
    double scale = 1;      // see Scale
    bool partial = false;  // some elements are neither written nor compared
    bool sum = false;      // the only element is the expected sum of all elements
    /// Of 64-bit integers that a kernel or a file gives: the bits of all elements, because a double does not hold them.
    std::vector<std::uint64_t> words = {};
  };
  std::vector<Output> outputs;
};

/// What the outputs of a kernel are compared with if no statements say it: the kernel of a user's file.
struct Expectation {
  std::optional<KernelCode> kernel = {};  // runs once; its outputs are expected
  InputFiles files = {};                  // expected outputs, by name
  InputFiles rounding = {};               // of some of these: the differences that rounding explains
  /// Outputs whose buffers are words of 32 bits that hold elements of another type.
  std::map<std::string, ir::DType, std::less<>> elements = {};
  std::string expression = {};                      // of PyTorch, for all outputs (expected_values.h); "": none
  std::string program = {};                         // Loop IR that computes all outputs (expected_values.h); "": none
  std::set<std::string, std::less<>> ignored = {};  // outputs that are not compared
  std::set<std::string, std::less<>> summed = {};   // outputs of which the sum alone is compared
  std::string name = {};                            // of the kernel, for messages
  bool empty() const { return !kernel && files.empty() && expression.empty() && program.empty(); }
};

/// The kernel as an expression or a program computes it: outputs that are not compared count as inputs, and outputs of
/// which the sum is compared have this one element.
ir::Program compared_outputs(ir::Program kernel, const std::set<std::string, std::less<>>& ignored,
                             const std::set<std::string, std::less<>>& summed);

/// The error_of() of a sum, relative to the output's scale. Sums of integers are compared exactly.
double error_of_sum(const Sum& found, const Reference::Output& expected, ir::DType);

/// The tolerance for operands rounded to TF32: ten times their mean error. It is too large to find a wrong index in one
/// of deplo's kernels, but shows whether a library computes this product.
inline constexpr double tf32_tolerance = 5e-3;

/// Up to this many statement executions the reference is complete (which takes at most a second). Above, it has at
/// least 64 elements.
inline constexpr double small_problem = 4e6;

/// The inputs are those of `files`, else random (random_input in measure/check/inputs.h). They are the same for the
/// same seed, and in each set of operands. An output that has a file or a fill begins with its values
/// (KernelSource::restored). The device and the probe must outlive it. Not thread-safe.
class Problem {
 public:
  /// `loop` must be verified Loop IR. `probe`: of the device; without it no time is implausible. Throws
  /// Error(environment) if the device or the host does not have enough memory.
  Problem(const ir::Program& loop, Device& device, std::uint64_t seed, Probe* probe = nullptr,
          double tolerance = default_tolerance, InputFiles files = {}, Expectation expectation = {});

  const ir::Program& loop() const { return loop_; }
  Device& device() { return device_; }
  Probe* probe() { return probe_; }
  OperandSets& sets() { return sets_; }
  /// The Sampler for screening all candidates. It remembers their clocks.
  Sampler& screening(double least_clock);
  /// The first set, whose outputs are checked.
  Arrays& arrays() { return sets_[0]; }
  void poison_outputs();

  /// Checks the outputs of the first set. Returns guard_hit, or wrong_result with index, expected, found and error;
  /// nullopt: they are right. measure/check/verdict.h judges each element. The tolerance is the larger of the problem's
  /// and `least`. The first call computes the reference; throws Error if an output of the reference has no finite
  /// element.
  std::optional<Failure> check(Coverage, double least = 0);
  /// A hash of all bits of the outputs that were checked last, for comparing two runs in one process.
  std::uint64_t checked_bits() const { return checked_bits_; }
  const Reference& reference();

  /// Returns implausible, with the reason, if a launch in a batch cannot have been as fast as `us`. Before that, the
  /// device's ceilings are measured again. `plausible`: see Protocol.
  std::optional<Failure> implausible(double us, int batch, double plausible);

 private:
  double least_us(int batch) const;
  Reference expected_outputs();
  /// `exact`: all digits of 64-bit integers count.
  Reference::Output expected_output(std::size_t buffer, const ir::Numbers& values, bool exact) const;
  ir::Buffer seen_output(std::size_t buffer) const;
  /// Is only the sum of the output compared?
  bool is_summed(std::size_t buffer) const;
  [[noreturn]] void nothing_written(const ir::Buffer&) const;
  StoredElements found_output(std::size_t buffer);
  std::optional<Failure> find_nan(std::size_t output, const StoredElements& found);

  ir::Program loop_;
  Device& device_;
  Probe* probe_;
  OperandSets sets_;
  std::uint64_t seed_;
  double tolerance_;
  InputFiles files_;
  Expectation expectation_;
  ir::Work least_;  // the work that no schedule can avoid
  std::optional<Sampler> screening_;
  std::optional<Reference> reference_;
  bool rounding_ = false;  // the reference includes rounding
  std::uint64_t checked_bits_ = 0;
};

}  // namespace deplo::measure
