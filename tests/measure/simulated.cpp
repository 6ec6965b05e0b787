#include "measure/simulated.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "measure/host_arrays.h"

namespace deplo::measure {
namespace {

constexpr double full_clock_mhz = 1500;
constexpr double energy_step_us = 100e3;
constexpr double throttles_after_us = 30e3, throttles_for_us = 40e3;

double normal(Rng& rng) {  // Box-Muller transform
  const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

}  // namespace

class SimulatedDevice::Kernel final : public Executable {
 public:
  Kernel(SimulatedDevice& device, double us, double watts, std::int64_t grid)
      : device_(device), us_(us), watts_(watts), grid_(grid) {}

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    Arrays* const set = &arrays;
    return sample({&set, 1}, blocks, 1).value().us;
  }

  Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) override {
    const double part = static_cast<double>(blocks) / static_cast<double>(grid_);
    const double start = device_.now_;
    for (int i = 0; i < batch; ++i)
      device_.run(device_.launch_us(us_ * part, std::exchange(device_.last_, this) != this), watts_);
    for (std::size_t i = 0; i < std::min(sets.size(), static_cast<std::size_t>(batch)); ++i)
      write_outputs(static_cast<HostArrays&>(*sets[i]), part);
    return Sample{(device_.now_ - start) / batch,
                  device_.disturbances_.says_clock ? full_clock_mhz * device_.clock() : 0};
  }

 private:
  void write_outputs(HostArrays& arrays, double part) {
    if (device_.answers_.empty()) device_.compute(arrays);
    for (std::size_t i = 0; i < device_.loop_.buffers.size(); ++i) {
      const ir::Buffer& buffer = device_.loop_.buffers[i];
      const auto count = static_cast<std::size_t>(part * static_cast<double>(ir::span(buffer)));
      if (buffer.role != ir::Role::output) continue;
      const std::vector<double>& answers = device_.answers_.at(buffer.name);
      ir::Numbers values = arrays.read(i);
      for (std::size_t k = 0; k < count; ++k) values.set(k, answers[k]);
      arrays.write(i, values);
    }
  }

  SimulatedDevice& device_;
  double us_, watts_;
  std::int64_t grid_;
};

class SimulatedDevice::Counter final : public EnergyCounter {
 public:
  explicit Counter(const SimulatedDevice& device) : device_(device) {}
  Result<double> millijoules() override { return device_.counted_mj_; }
  double step_us() const override { return energy_step_us; }

 private:
  const SimulatedDevice& device_;
};

SimulatedDevice::SimulatedDevice(ir::Program loop, Model model, Disturbances disturbances, std::uint64_t seed,
                                 Model watts)
    : loop_(std::move(loop)),
      model_(std::move(model)),
      watts_(std::move(watts)),
      disturbances_(disturbances),
      rng_(seed) {
  info_ = {.backend = "simulated",
           .name = "simulated device",
           .vendor = "deplo",
           .driver = "1",
           .platform = "host",
           .units = 4,
           .clock_mhz = static_cast<std::int64_t>(full_clock_mhz),
           .shared_bytes = 49152,
           .max_threads = 1024};
}

std::unique_ptr<Arrays> SimulatedDevice::allocate(const std::vector<ir::Buffer>& buffers) {
  return std::make_unique<HostArrays>(buffers);
}

Result<std::unique_ptr<Executable>> SimulatedDevice::build(const KernelCode& candidate) {
  return std::unique_ptr<Executable>(std::make_unique<Kernel>(*this, model_(candidate), watts_ ? watts_(candidate) : 0,
                                                              std::max<std::int64_t>(candidate.source.blocks, 1)));
}

EnergyCounter& SimulatedDevice::energy() {
  if (!watts_) return Device::energy();
  if (!energy_) energy_ = std::make_unique<Counter>(*this);
  return *energy_;
}

void SimulatedDevice::run(double us, double watts) {
  const double step = std::floor((now_ + us) / energy_step_us) * energy_step_us;
  if (step > now_) counted_mj_ = taken_mj_ + watts * (step - now_) * 1e-3;
  now_ += us;
  taken_mj_ += watts * us * 1e-3;
}

void SimulatedDevice::pause(double milliseconds) {
  now_ += milliseconds * 1e3;
  busy_us_ = 0;
  throttled_until_ = 0;
}

void SimulatedDevice::compute(HostArrays& inputs) {
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i) {
    answers_[loop_.buffers[i].name] = inputs.read(i).doubles();
  }
  ir::interpret(loop_, answers_);
}

double SimulatedDevice::clock() { return now_ < throttled_until_ ? 1 - disturbances_.throttle : 1; }

double SimulatedDevice::launch_us(double undisturbed, bool first) {
  const Disturbances& d = disturbances_;
  double us = undisturbed / clock();
  if (d.noise > 0) us *= std::exp(d.noise * normal(rng_));
  us *= 1 + d.drift * std::sin(2 * std::numbers::pi * now_ * 1e-6 / d.drift_s);
  if (rng_.uniform() < d.outliers) us *= rng_.uniform(2, 10);
  if (first) us *= 1 + d.first_launch;
  busy_us_ += us;
  if (busy_us_ > throttles_after_us && d.throttle > 0) {
    throttled_until_ = now_ + throttles_for_us;
    busy_us_ = 0;
  }
  return us;
}

}  // namespace deplo::measure
