// deplo's own kernels that measure a device's ceilings, and show whether the device is as fast as before.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "measure/device.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure {

/// Measures the ceilings of a device. The device must outlive the Probe. Not thread-safe.
class Probe {
 public:
  /// Measures the rate of multiply-adds, which takes some 0.1 s. If a kernel cannot be built (the interpreter takes no
  /// source), its ceiling stays unknown. `known`: ceilings of the device from another process or another day.
  explicit Probe(Device&, const rules::Ceilings& known = {});
  /// From now on, measures the rates of memory, too. Measures them now unless they are known. This takes seconds if the
  /// last-level cache is large, because it allocates two arrays of the cache's size. Throws Error(environment) if there
  /// is not enough memory.
  void include_memory();
  /// Returns the highest of all measurements and of `known`.
  rules::Ceilings ceilings() const { return rules::highest(known_, measured_); }
  /// Returns the highest of all measurements of this Probe.
  const rules::Ceilings& measured() const { return measured_; }
  /// Measures again and returns this measurement. The ceilings never fall: other programs can make a device look slower
  /// than it is, but nothing makes it look faster.
  rules::Ceilings measure();

  /// A kernel, and the work of one launch in bytes or FLOPs.
  struct Load {
    std::unique_ptr<Executable> executable;  // null: the kernel cannot be built
    std::vector<ir::Buffer> buffers;
    std::int64_t blocks = 0;
    double work = 0;
  };
  /// The multiply-add kernel, which takes about a millisecond. Its time shows whether the device's clock has changed.
  const Load& reference() const { return fma_; }
  Arrays& reference_arrays() { return *fma_arrays_; }

 private:
  rules::Ceilings memory_rates() const;

  Device& device_;
  Load fma_;
  std::optional<Load> copy_, read_;  // set by include_memory()
  std::unique_ptr<Arrays> fma_arrays_;
  rules::Ceilings known_, measured_;
};

}  // namespace deplo::measure
