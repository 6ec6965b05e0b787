// Kernels of our own that say what a device can do at best, and whether it is as fast now as before.
#pragma once
#include <memory>
#include <vector>

#include "measure/device.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure {

/// The device must outlive it. Not thread-safe.
class Probe {
 public:
  /// Builds the kernels and measures once, together 0.1 to 0.5 s. Where a kernel cannot be built (the interpreter takes
  /// no source) its ceiling stays unknown. Throws Error(environment) when memory for twice the last cache is short.
  /// `known`: what the device was seen to do before, in another process or on another day.
  explicit Probe(Device&, const rules::Ceilings& known = {});
  /// The best of all measurements and of what was known.
  rules::Ceilings ceilings() const { return rules::highest(known_, measured_); }
  /// The best of all measurements here.
  const rules::Ceilings& measured() const { return measured_; }
  /// Once more: the result of this one. The ceilings only rise: a busy neighbour makes a device look slower than it is,
  /// nothing makes it look faster.
  rules::Ceilings measure();

  /// One kernel with what a launch of it does, in bytes or FLOPs.
  struct Load {
    std::unique_ptr<Executable> executable;  // null: cannot be built
    std::vector<ir::Buffer> buffers;
    std::int64_t blocks = 0;
    double work = 0;
  };
  /// The multiply-adds, about a millisecond: the reference for whether the device's clock is as it was.
  const Load& reference() const { return fma_; }
  Arrays& reference_arrays() { return *fma_arrays_; }

 private:
  Device& device_;
  Load copy_, read_, fma_;
  std::unique_ptr<Arrays> fma_arrays_;
  rules::Ceilings known_, measured_;
};

}  // namespace deplo::measure
