// A device that runs each launch in a separate process, because nothing is known about its kernels: a kernel that
// crashes or hangs is a failed launch.
#pragma once
#include <memory>
#include <string>

#include "measure/worker/single_launch.h"

namespace deplo::measure::worker {

/// The arrays are in this process. Each launch builds the kernel and runs its whole grid in a new process
/// (LaunchWorker), which gets the contents of the arrays. So build errors are reported by the launch, not by build().
class IsolatedDevice final : public Device {
 public:
  /// `command`: see LaunchWorker. A launch may take `seconds`. Throws Error if there is no such device.
  IsolatedDevice(WorkerCommand command, double seconds);

  /// The info's l2_bytes is 0, so that callers make no additional operand sets: a single launch does not need cold
  /// operands.
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return dialect_; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override;
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override;
  /// Returns what the last launch printed.
  const std::string& printed() const { return printed_; }

 private:
  class Kernel;

  WorkerCommand command_;
  double seconds_;
  std::unique_ptr<LaunchWorker> ready_;  // the worker of the first launch; null after it
  std::string printed_;
  DeviceInfo info_;
  Dialect dialect_;
};

}  // namespace deplo::measure::worker
