#include "measure/cuda/clock.h"

#include <algorithm>
#include <map>
#include <vector>

#include "measure/cuda/compiler/compile.h"

namespace deplo::measure::cuda {
namespace {

// Waits `hold` cycles and then reads the counters (PTX ISA, "Special Registers").
constexpr const char* source =
    R"(extern "C" __global__ void clock_probe(unsigned long long* readings, const long long hold) {
  const long long start = clock64();
  while (clock64() - start < hold) {}
  unsigned unit;
  unsigned long long nanoseconds, cycles;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
  asm volatile("mov.u64 %0, %%globaltimer;\n"
               "mov.u64 %1, %%clock64;" : "=l"(nanoseconds), "=l"(cycles));
  readings[3 * blockIdx.x] = unit;
  readings[3 * blockIdx.x + 1] = nanoseconds;
  readings[3 * blockIdx.x + 2] = cycles;
}
)";

}  // namespace

double clock_mhz(std::span<const ClockReading> before, std::span<const ClockReading> after) {
  std::map<std::uint64_t, ClockReading> first;
  for (const ClockReading& reading : before) first[reading.unit] = reading;
  std::vector<double> found;
  for (const ClockReading& reading : after) {
    const auto start = first.find(reading.unit);
    if (start == first.end() || reading.nanoseconds <= start->second.nanoseconds) continue;
    if (reading.cycles <= start->second.cycles) continue;
    const auto cycles = static_cast<double>(reading.cycles - start->second.cycles);
    found.push_back(1e3 * cycles / static_cast<double>(reading.nanoseconds - start->second.nanoseconds));
  }
  if (found.empty()) return 0;
  std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2), found.end());
  return found[found.size() / 2];
}

ClockProbe::ClockProbe(const Context& context, const Nvrtc& nvrtc, const std::string& architecture, int units)
    : context_(context), units_(static_cast<std::size_t>(units)) {
  const Driver& driver = context_.driver();
  const auto cubin = compile_cubin({.entry = "clock_probe", .text = source}, architecture, {.nvrtc = &nvrtc});
  if (!cubin.ok()) throw Error("CUDA: cannot build the clock's kernel: " + cubin.failure().message, Exit::environment);
  driver.require(driver.module_load(&module_, cubin.value().code.data()), "load the clock's kernel");
  driver.require(driver.module_function(&function_, module_, "clock_probe"), "find the clock's kernel");
  driver.require(driver.allocate(&readings_, 2 * units_ * sizeof(ClockReading)), "allocate the clock's readings");
  driver.require(driver.fill(readings_, 0, 2 * units_ * sizeof(ClockReading), context_.stream()),
                 "clear the clock's readings");
}

ClockProbe::~ClockProbe() {
  context_.enter_to_free();
  context_.driver().free(readings_);
  context_.driver().module_unload(module_);
}

int ClockProbe::launch(std::size_t first, long long cycles) const {
  Address to = readings_ + first * sizeof(ClockReading);
  void* parameters[] = {&to, &cycles};
  return context_.driver().launch(function_, static_cast<unsigned>(units_), 1, 1, 1, 1, 1, 0, context_.stream(),
                                  parameters, nullptr);
}

double ClockProbe::mhz() const {
  std::vector<ClockReading> readings(2 * units_);
  const Driver& driver = context_.driver();
  driver.require(
      driver.copy_from(readings.data(), readings_, readings.size() * sizeof(ClockReading), context_.stream()),
      "read the clock");
  driver.require(context_.wait(), "read the clock");
  return clock_mhz(std::span(readings).first(units_), std::span(readings).subspan(units_));
}

}  // namespace deplo::measure::cuda
