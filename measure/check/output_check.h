// Checks if the outputs of a kernel are right.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "core/outcome.h"
#include "ir/program.h"
#include "measure/check/elements.h"
#include "measure/check/expectation.h"
#include "measure/check/inputs.h"
#include "measure/check/reference.h"
#include "measure/device.h"

namespace deplo::measure {

/// The part of the grid that has run since the outputs were poisoned. After a prefix of the grid, poisoned elements are
/// allowed.
enum class Coverage : std::uint8_t { whole, prefix };

/// Returns wrong_result if an element of an output was not written, or if a bool is neither 0 nor 1; else nullopt.
/// `found`: the output after the whole grid ran on poisoned outputs. The message begins with the buffer's name.
std::optional<Failure> find_unwritten(const ir::Buffer&, const StoredElements& found);

/// Checks arrays that kernels have written. The device and the arrays must outlive the check.
class OutputCheck {
 public:
  /// `loop` must be verified Loop IR. `arrays`: the arrays to check. `expectation`: if not empty, it replaces the
  /// loop's statements as the source of the expected outputs.
  OutputCheck(const ir::Program& loop, Device& device, Arrays& arrays, std::uint64_t seed, double tolerance,
              InputFiles files, Expectation expectation);

  /// Remembers the bits of the inputs, if the kernels are not deplo's own. From now on, check() also finds a kernel
  /// that wrote to an input. Call it when the inputs are written.
  void remember_inputs();
  void poison_outputs();
  /// Returns guard_hit, or wrong_result with index, expected value, found value and error; nullopt if the outputs are
  /// right. An input that a kernel changed is written again, because the next kernel reads it. measure/check/verdict.h
  /// judges each element. The tolerance is the larger of the constructor's and `min_tolerance`. The first call computes
  /// the reference; it throws Error if an output of the reference has no finite element.
  std::optional<Failure> check(Coverage, double min_tolerance = 0);
  /// A hash of all bits of the outputs that were checked last, to compare two runs in one process.
  std::uint64_t checked_bits() const { return checked_bits_; }
  const Reference& reference();

 private:
  Reference expected_outputs();
  /// `exact`: 64-bit integers are compared bit by bit, not as doubles.
  Reference::Output expected_output(std::size_t buffer, const ir::Numbers& values, bool exact) const;
  ir::Buffer seen_output(std::size_t buffer) const;
  /// True if only the sum of the output is compared.
  bool is_summed(std::size_t buffer) const;
  std::uint64_t bits_of(std::size_t buffer);
  std::optional<Failure> find_changed_input();
  [[noreturn]] void nothing_written(const ir::Buffer&) const;
  StoredElements found_output(std::size_t buffer);
  std::optional<Failure> find_nan(std::size_t output, const StoredElements& found);

  const ir::Program& loop_;
  Device& device_;
  Arrays& arrays_;
  std::uint64_t seed_;
  double tolerance_;
  InputFiles files_;
  Expectation expectation_;
  std::optional<Reference> reference_;
  bool rounding_ = false;  // true once the reference includes rounding
  std::uint64_t checked_bits_ = 0;
  std::map<std::size_t, std::uint64_t> input_bits_ = {};  // a hash of the bits, by the input's buffer
};

}  // namespace deplo::measure
