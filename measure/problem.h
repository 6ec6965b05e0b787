// One kernel to be tuned on one device: its inputs, its arrays there, and what the outputs must be.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/outcome.h"
#include "ir/program.h"
#include "measure/device.h"

namespace deplo::measure {

/// What ran since the outputs were poisoned: the whole grid; a prefix of it, after which poison is no mistake; a prefix
/// of blocks that add to the outputs, after which only what is no number is one.
enum class Coverage : std::uint8_t { whole, prefix, partial_sums };

/// What the outputs must be, in double: every element of a small problem, else some of them.
struct Reference {
  struct Element {
    std::int64_t offset = 0;
    double value = 0;
  };
  struct Output {
    std::size_t buffer = 0;  // index in the program's buffers
    std::vector<Element> elements;
    double scale = 1;  // root mean square of the elements; 1 where all are 0
  };
  std::vector<Output> outputs;
};

/// Largest |found - expected| / scale. Sums of K products of uniform(-1, 1) numbers in f32, in any order, err by about
/// 2^-24 * sqrt(K) of their root mean square: 8e-6 at K = 18944. A missing or doubled term errs by sqrt(1 / K): 7e-3.
inline constexpr double tolerance = 1e-4;

/// At most this many statement executions: the reference is complete (a second or less), else at least 64 elements.
inline constexpr double small_problem = 4e6;

/// The inputs are random (random_input in measure/reference.h), the same for the same seed. The device must outlive it.
/// Not thread-safe.
class Problem {
 public:
  /// `loop` is verified Loop IR. Throws Error(environment) when the device or the host has not enough memory.
  Problem(const ir::Program& loop, Device& device, std::uint64_t seed);

  const ir::Program& loop() const { return loop_; }
  Arrays& arrays() { return *arrays_; }
  void poison_outputs();
  /// Why the outputs on the device are wrong: `wrong_result` with index, expected, found and error; nullopt: they are
  /// right. Computes the reference on first use; throws Error when the kernel itself has no finite result.
  std::optional<Failure> check(Coverage);
  const Reference& reference();

 private:
  ir::Program loop_;
  std::unique_ptr<Arrays> arrays_;
  std::uint64_t seed_;
  std::optional<Reference> reference_;
};

}  // namespace deplo::measure
