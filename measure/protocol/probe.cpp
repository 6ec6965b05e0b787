#include "measure/protocol/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "measure/protocol/sampler.h"
#include "measure/protocol/warm_up.h"

namespace deplo::measure {
namespace {

// Each kernel gets at least this many samples, and a short kernel more until it has run for `enough_us`, because the
// best sample counts.
constexpr int least_samples = 5;
constexpr double enough_us = 30e3;

// Returns the number of f32 lanes of a CPU's register. With 16 lanes, twelve accumulators would not fit the registers
// of AVX2.
std::int64_t register_lanes(const DeviceInfo& info) { return info.architecture == avx2 ? 8 : 16; }

// Returns the macros by which the sources below are valid in both languages. V is the type that one thread moves at a
// time.
std::string prelude(Dialect dialect, const DeviceInfo& info) {
  switch (dialect) {
    case Dialect::cuda:
      return "#define KERNEL extern \"C\" __global__ void\n#define GLOBAL\n#define V float4\n"
             "#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)\n#define FMA fmaf\n#define W float\n"
             "#define ADD(s, v) s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w\n#define STORE(to, v) to = v\n";
    case Dialect::opencl:
      break;
  }
  return fmt::format(
      "#define KERNEL __kernel void\n#define GLOBAL __global\n#define V {0}\n"
      "#define INDEX (get_global_id(0))\n#define FMA(a, b, c) fma(a, b, c)\n#define W {1}\n#define ADD(s, v) s += v\n"
      "#define STORE(to, v) {2}\n",
      info.cpu ? "float16" : "float4", info.cpu ? fmt::format("float{}", register_lanes(info)) : "float",
      info.cpu ? "__builtin_nontemporal_store(v, &to)" : "to = v");  // bypasses the caches, like stream_writes
}

ir::Buffer floats(std::string name, ir::Role role, std::int64_t count) {
  return {std::move(name), ir::DType::f32, role, {count}, {1}};
}

struct Extent {
  std::int64_t blocks, threads;
  double work;  // per launch, as in Probe::Load
};

Probe::Load build(Device& device, std::string entry, const std::string& text, std::vector<ir::Buffer> buffers,
                  const Extent& extent) {
  KernelCode candidate;
  candidate.kernel.level = ir::Level::kernel;
  candidate.kernel.name = entry;
  candidate.kernel.buffers = std::move(buffers);
  candidate.source = {.entry = std::move(entry),
                      .text = prelude(device.dialect(), device.info()) + text,
                      .blocks = extent.blocks,
                      .threads = extent.threads};
  Probe::Load load{nullptr, candidate.kernel.buffers, extent.blocks, extent.work};
  const std::string& backend = device.info().backend;
  if (backend != "opencl" && backend != "cuda") return load;  // other backends do not run source code
  if (auto built = device.build(candidate); built.ok()) load.executable = std::move(built.value());
  return load;
}

/// The shape of a kernel that walks each of two arrays with `blocks` blocks of 256 threads, one V per thread.
struct Sweep {
  static constexpr std::int64_t threads = 256;
  std::int64_t lanes, blocks, elements;
  // Each array has the size of the last-level cache, so that little of either is still cached when it is accessed
  // again. If the size is not known, 64 MiB exceed all but the largest caches. At most 256 MiB, because allocating
  // fresh memory is slow.
  explicit Sweep(const DeviceInfo& info) : lanes(info.cpu ? 16 : 4) {
    constexpr std::int64_t min_bytes = std::int64_t{64} << 20, max_bytes = std::int64_t{256} << 20;
    const std::int64_t bytes = std::clamp(info.l2_bytes, min_bytes, max_bytes);
    blocks = bytes / (threads * lanes * 4);
    elements = blocks * threads * lanes;
  }
};

// Builds the kernel that copies an array. Its buffers are the first two buffers of read().
Probe::Load copy(Device& device) {
  const Sweep sweep(device.info());
  return build(device, "deplo_copy",
               "KERNEL deplo_copy(GLOBAL const V* a, GLOBAL V* b) {\n  STORE(b[INDEX], a[INDEX]);\n}\n",
               {floats("a", ir::Role::input, sweep.elements), floats("b", ir::Role::output, sweep.elements)},
               {sweep.blocks, Sweep::threads, 8 * static_cast<double>(sweep.elements)});
}

// Builds the kernel that reads two arrays. Each thread sums 16 V of each array: neighbours on a CPU, else V that are a
// grid's width apart.
Probe::Load read(Device& device) {
  constexpr std::int64_t per_thread = 16;
  const Sweep sweep(device.info());
  const std::int64_t blocks = sweep.blocks / per_thread, total = blocks * Sweep::threads;
  const std::string at =
      device.info().cpu ? fmt::format("INDEX * {} + k", per_thread) : fmt::format("k * {} + INDEX", total);
  const std::string text = fmt::format(
      "KERNEL deplo_read(GLOBAL const V* a, GLOBAL const V* b, GLOBAL V* c) {{\n  V s = a[INDEX];\n"
      "  for (int k = 0; k < {0}; ++k) {{\n    V v = a[{1}], w = b[{1}];\n    ADD(s, v);\n    ADD(s, w);\n  }}\n"
      "  c[INDEX] = s;\n}}\n",
      per_thread, at);
  return build(device, "deplo_read", text,
               {floats("a", ir::Role::input, sweep.elements), floats("b", ir::Role::input, sweep.elements),
                floats("c", ir::Role::output, total * sweep.lanes)},
               {blocks, Sweep::threads, 8 * static_cast<double>(sweep.elements)});
}

// Builds the kernel of independent chains of multiply-adds. A multiply-add takes 4 cycles and two start per cycle, on
// CPUs and GPUs, so 8 chains fill the units of a CPU. On a GPU, the other warps of a unit fill them, too.
Probe::Load multiply_add(Device& device) {
  constexpr int chains = 12;
  const DeviceInfo& info = device.info();
  const std::int64_t threads = info.cpu ? 1 : 256, lanes = info.cpu ? register_lanes(info) : 1;
  const std::int64_t blocks = std::max<std::int64_t>(info.units, 1) * (info.cpu ? 4 : 16);
  const int steps = info.cpu ? 16384 : 2048;
  std::string declare, step, sum;
  for (int i = 0; i < chains; ++i) {
    declare += fmt::format("  W v{} = x + {}.0f;\n", i, i);
    step += fmt::format("    v{0} = FMA(v{0}, x, y);\n", i);
    sum += fmt::format("{}v{}", i == 0 ? "" : " + ", i);
  }
  const std::string text = fmt::format(
      "KERNEL deplo_fma(GLOBAL const W* a, GLOBAL W* b) {{\n  const W x = a[0], y = a[1];\n{}"
      "  for (int k = 0; k < {}; ++k) {{\n{}  }}\n  b[INDEX] = {};\n}}\n",
      declare, steps, step, sum);
  const std::int64_t elements = blocks * threads * lanes;
  return build(device, "deplo_fma", text,
               {floats("a", ir::Role::input, 2 * lanes), floats("b", ir::Role::output, elements)},
               {blocks, threads, 2.0 * chains * steps * static_cast<double>(elements)});
}

/// Allocates arrays and fills them with NaN, so that all pages exist before the timing. Additions of NaN are as fast as
/// those of other numbers; only subnormal numbers are slower.
std::unique_ptr<Arrays> touched(Device& device, const std::vector<ir::Buffer>& buffers) {
  auto arrays = device.allocate(buffers);
  for (std::size_t i = 0; i < buffers.size(); ++i) arrays->poison(i);
  return arrays;
}

/// Launches the kernel until a GPU has reached its full clock, at which its ceilings are measured.
void wake(const DeviceInfo& info, const Probe::Load& load, Arrays& arrays) {
  Arrays* const set = &arrays;
  WarmUp warm_up(static_cast<double>(info.clock_mhz), 0);
  while (!info.cpu && !warm_up.done()) {
    const auto sample = load.executable->sample({&set, 1}, load.blocks, 1);
    if (!sample.ok() || check_time(sample.value().us)) return;  // best_rate() fails in the same way
    warm_up.add(sample.value().us, sample.value().clock_mhz);
  }
}

/// Returns the highest rate of all samples, in 10^9 units of work per second; 0 if the kernel does not run.
double best_rate(const Probe::Load& load, Arrays& arrays) {
  double best = 0;
  Arrays* const set = &arrays;
  double spent_us = 0;
  for (int i = 0; i <= least_samples || spent_us < enough_us; ++i) {
    const auto sample = load.executable->sample({&set, 1}, load.blocks, 1);
    if (!sample.ok() || check_time(sample.value().us)) return 0;
    spent_us += sample.value().us;
    if (i > 0) best = std::max(best, load.work / sample.value().us * 1e-3);  // the first launch is biased
  }
  return best;
}

}  // namespace

Probe::Probe(Device& device, const rules::Ceilings& known)
    : device_(device), fma_(multiply_add(device)), known_(known) {
  if (fma_.executable) {
    fma_arrays_ = touched(device_, fma_.buffers);
    // 0.5 keeps all numbers finite: the power of a GPU, and so its clock, depends on the numbers that it multiplies.
    fma_arrays_->write(0, std::vector<float>(static_cast<std::size_t>(ir::span(fma_.buffers[0])), 0.5F));
  }
  measure();
}

void Probe::include_memory() {
  if (copy_) return;
  copy_ = copy(device_);
  read_ = read(device_);
  if (known_.gb_s() == 0) measured_ = rules::highest(measured_, memory_rates());
}

rules::Ceilings Probe::memory_rates() const {
  if (!copy_->executable || !read_->executable) return {};
  const auto arrays = touched(device_, read_->buffers);
  const double copy_gb_s = best_rate(*copy_, *arrays->view(std::array<Place, 2>{{{0}, {1}}}, copy_->buffers));
  return {.copy_gb_s = copy_gb_s, .read_gb_s = best_rate(*read_, *arrays)};
}

rules::Ceilings Probe::measure() {
  rules::Ceilings now;
  if (fma_.executable) {
    wake(device_.info(), fma_, *fma_arrays_);
    now.fp32_gflop_s = best_rate(fma_, *fma_arrays_);
  }
  if (copy_) now = rules::highest(now, memory_rates());
  measured_ = rules::highest(measured_, now);
  return now;
}

}  // namespace deplo::measure
