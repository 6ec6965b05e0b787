#include "measure/worker/isolated_device.h"

#include <utility>

#include "core/error.h"
#include "measure/host_arrays.h"

namespace deplo::measure::worker {

class IsolatedDevice::Kernel final : public Executable {
 public:
  Kernel(IsolatedDevice& device, KernelCode code)
      : device_(device), restored_(std::exchange(code.source.restored, {})), code_(std::move(code)) {}

  Result<double> launch(Arrays& arrays, std::int64_t /*blocks*/) override { return run(arrays, true); }
  std::optional<Failure> execute(Arrays& arrays, std::int64_t /*blocks*/) override {
    const Result<double> time = run(arrays, false);
    return time.ok() ? std::nullopt : std::optional(time.failure());
  }
  const Resources& resources() const override { return resources_; }

 private:
  Result<double> run(Arrays& arrays, bool timed) {
    auto& host = static_cast<HostArrays&>(arrays);
    for (const std::size_t buffer : restored_) host.restore(buffer);
    Contents contents;
    for (std::size_t i = 0; i < host.count(); ++i) contents.push_back(host.read_bytes(i));
    std::unique_ptr<LaunchWorker> worker = std::move(device_.ready_);
    if (!worker) worker = std::make_unique<LaunchWorker>(device_.command_);
    try {
      const double us = worker->run(code_, contents, device_.seconds_, timed);
      for (std::size_t i = 0; i < host.count(); ++i) host.write_bytes(i, contents[i]);
      device_.printed_ = worker->printed();
      return us;
    } catch (const Error& error) {  // a process that dies or hangs is a failure of the kernel
      return Failure{Status::launch_error, error.what()};
    }
  }

  IsolatedDevice& device_;
  std::vector<std::size_t> restored_;
  KernelCode code_;
  Resources resources_;
};

IsolatedDevice::IsolatedDevice(WorkerCommand command, double seconds)
    : command_(std::move(command)),
      seconds_(seconds),
      ready_(std::make_unique<LaunchWorker>(command_)),
      info_(ready_->info()),
      dialect_(ready_->dialect()) {
  info_.l2_bytes = 0;
}

std::unique_ptr<Arrays> IsolatedDevice::allocate(const std::vector<ir::Buffer>& buffers) {
  return std::make_unique<HostArrays>(buffers);
}

Result<std::unique_ptr<Executable>> IsolatedDevice::build(const KernelCode& code) {
  return std::unique_ptr<Executable>(std::make_unique<Kernel>(*this, code));
}

}  // namespace deplo::measure::worker
