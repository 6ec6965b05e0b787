// Kernels of our own that say what a device can do at best, and whether it is as fast now as before.
#pragma once
#include <memory>
#include <vector>

#include "measure/device.h"

namespace deplo::measure {

/// The best that was ever seen; 0: not known.
struct Ceilings {
  double copy_gb_s = 0;     // bytes read and bytes written
  double read_gb_s = 0;     // where writes cost more than reads it is above the former
  double fp32_gflop_s = 0;  // fused multiply-adds of f32, 2 FLOPs each
  double gb_s() const { return copy_gb_s > read_gb_s ? copy_gb_s : read_gb_s; }
};

/// The device must outlive it. Not thread-safe.
class Probe {
 public:
  /// Builds the kernels and measures once, together 0.1 to 0.5 s. Where a kernel cannot be built (the interpreter takes
  /// no source) its ceiling stays unknown. Throws Error(environment) when memory for twice the last cache is short.
  explicit Probe(Device&);
  const Ceilings& ceilings() const { return ceilings_; }
  /// Once more, and only upwards: a busy neighbour makes a device look slower than it is, nothing makes it look faster.
  void measure();

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
  Ceilings ceilings_;
};

}  // namespace deplo::measure
