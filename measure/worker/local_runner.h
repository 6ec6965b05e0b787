// A bench in this process: what a worker has inside. What crashes here takes the process with it.
#pragma once
#include <functional>
#include <memory>

#include "measure/baselines/baselines.h"
#include "measure/check/problem.h"
#include "measure/worker/runner.h"
#include "measure/worker/step.h"

namespace deplo::measure::worker {

class LocalRunner final : public Runner {
 public:
  /// Called before each step of a candidate with its number in the request.
  using Enter = std::function<void(Step, std::size_t candidate)>;
  explicit LocalRunner(
      std::unique_ptr<Device> device, Enter enter = [](Step, std::size_t) {});

  const DeviceInfo& info() const override { return device_->info(); }
  Dialect dialect() const override { return device_->dialect(); }
  /// Makes the inputs and the reference; at first measures what the device can do at best.
  void open(const Task&) override;
  rules::Ceilings ceilings() const override { return probe_ ? probe_->measured() : rules::Ceilings{}; }
  std::size_t batch() const override { return 1; }
  /// Builds nothing: that would disturb what is being measured.
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
  std::unique_ptr<Probe> probe_;  // from the first task on
  std::unique_ptr<Problem> problem_;
  Baselines baselines_;  // of the present task, as the next
  Libraries libraries_;
  bool spoilt_ = false;  // a failure of the present request spoilt the process: the rest of it is not run
};

}  // namespace deplo::measure::worker
