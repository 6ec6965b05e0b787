// A device whose launches run in processes of their own, because nothing is known of its kernels: one that crashes or
// hangs is a failed launch.
#pragma once
#include <memory>
#include <string>

#include "measure/worker/single_launch.h"

namespace deplo::measure::worker {

/// Arrays lie in this process. Each launch builds the kernel and runs its whole grid in a new process, which gets their
/// contents (LaunchWorker); so what does not build is found by the launch.
class IsolatedDevice final : public Device {
 public:
  /// `command`: as of LaunchWorker. A launch may take `seconds`. Throws Error if there is no such device.
  IsolatedDevice(WorkerCommand command, double seconds);

  /// Without a cache, in which a single launch would have to find cold operands.
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return dialect_; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override;
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override;
  /// By the kernel that was launched last.
  const std::string& printed() const { return printed_; }

 private:
  class Kernel;

  WorkerCommand command_;
  double seconds_;
  std::unique_ptr<LaunchWorker> ready_;  // for the next launch
  std::string printed_;
  DeviceInfo info_;
  Dialect dialect_;
};

}  // namespace deplo::measure::worker
