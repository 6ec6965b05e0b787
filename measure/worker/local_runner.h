// A Runner in this process, used inside a worker. A candidate that crashes takes the process with it.
#pragma once
#include <functional>
#include <memory>

#include "measure/baselines/baselines.h"
#include "measure/protocol/problem.h"
#include "measure/worker/runner.h"
#include "measure/worker/step.h"

namespace deplo::measure::worker {

class LocalRunner final : public Runner {
 public:
  /// Called before each step of a candidate, with the candidate's index in the request.
  using Enter = std::function<void(Step, std::size_t candidate)>;
  explicit LocalRunner(
      std::unique_ptr<Device> device, Enter enter = [](Step, std::size_t) {});

  const DeviceInfo& info() const override { return device_->info(); }
  Dialect dialect() const override { return device_->dialect(); }
  std::string why_no_energy() override;
  /// Computes the inputs and the reference. The first call also measures the device's ceilings.
  void open(const Task&) override;
  rules::Ceilings ceilings() const override { return probe_ ? probe_->measured() : rules::Ceilings{}; }
  std::size_t batch() const override { return 1; }
  /// Does nothing: building ahead would disturb measurements.
  void prepare(std::span<const KernelCode>) override {}
  Reply screen(const KernelCode&, double best_us, double effort) override;
  const Libraries& libraries() const override { return libraries_; }
  std::vector<Reply> confirm(std::span<const KernelCode>, const ConfirmOptions&) override;

 private:
  struct Built;
  void find_libraries(const Task&);
  Built build(const KernelCode&, std::size_t number);

  std::unique_ptr<Device> device_;
  Enter enter_;
  Protocol protocol_;
  std::unique_ptr<Probe> probe_;  // null before the first task
  std::unique_ptr<Problem> problem_;
  Baselines baselines_;  // of the current task, like libraries_
  Libraries libraries_;
  EnergyCounter* energy_ = nullptr;  // the device's counter, if the current task asks for energies
  bool spoilt_ = false;  // a failure in the current request spoilt the process, so the rest of the request is not run
};

}  // namespace deplo::measure::worker
