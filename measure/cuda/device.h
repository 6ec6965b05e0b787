// Private to measure/cuda: one GPU as a Device (measure/device.h).
#pragma once
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/cuda/executable.h"

namespace deplo::measure::cuda {

class CudaDevice final : public Device {
 public:
  /// `index`: the index among the driver's devices. Throws Error(environment).
  CudaDevice(const Driver&, int index);
  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::cuda; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override;
  Result<std::unique_ptr<Executable>> build(const KernelCode&) override;
  std::unique_ptr<Executable> chain(std::vector<ChainLink> links) override;
  EnergyCounter& energy() override;

  const Context& context() const { return context_; }
  const ClockProbe& clock() const { return clock_; }

 private:
  const Nvrtc& nvrtc_;  // its version is old enough that the driver can load its code
  DeviceInfo info_;
  Target target_;
  Context context_;
  ClockProbe clock_;
  EncodeTiled encode_;
  std::unique_ptr<EnergyCounter> energy_;  // null until the first call of energy()
};

/// Casts a device of open_cuda() to its actual type. Any other device is a programming error.
CudaDevice& cuda_device(Device&);

}  // namespace deplo::measure::cuda
