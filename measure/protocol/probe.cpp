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

// Of each kernel: at least some, and for a short one more, since the best of them counts.
constexpr int least_samples = 5;
constexpr double enough_us = 30e3;

// Of a CPU's register. Twelve sums of twice as many would not fit the registers of AVX2.
std::int64_t register_lanes(const DeviceInfo& info) { return info.architecture == avx2 ? 8 : 16; }

// What the sources below call by one name in both languages. V: what one thread moves at a time.
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
      "#define INDEX get_global_id(0)\n#define FMA fma\n#define W {1}\n#define ADD(s, v) s += v\n#define STORE(to, v) "
      "{2}\n",
      info.cpu ? "float16" : "float4", info.cpu ? fmt::format("float{}", register_lanes(info)) : "float",
      info.cpu ? "__builtin_nontemporal_store(v, &to)" : "to = v");  // past the caches, as the rule stream_writes does
}

ir::Buffer floats(std::string name, ir::Role role, std::int64_t count) {
  return {std::move(name), ir::DType::f32, role, {count}, {1}};
}

struct Extent {
  std::int64_t blocks, threads;
  double work;  // of a launch, as in Probe::Load
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
  if (backend != "opencl" && backend != "cuda") return load;  // the others do not run text
  if (auto built = device.build(candidate); built.ok()) load.executable = std::move(built.value());
  return load;
}

/// How memory is walked: each of two arrays by `blocks` blocks of 256 threads of one V.
struct Sweep {
  static constexpr std::int64_t threads = 256;
  std::int64_t lanes, blocks, elements;
  // Each array has the size of the last cache, so that little of either is still there when it is touched again; where
  // that size is not known, one above all but the largest. A machine gives fresh memory slowly: no more than needed.
  explicit Sweep(const DeviceInfo& info) : lanes(info.cpu ? 16 : 4) {
    constexpr std::int64_t least = std::int64_t{64} << 20, most = std::int64_t{256} << 20;
    const std::int64_t bytes = std::clamp(info.l2_bytes, least, most);
    blocks = bytes / (threads * lanes * 4);
    elements = blocks * threads * lanes;
  }
};

// Its buffers are the first two of read()'s.
Probe::Load copy(Device& device) {
  const Sweep sweep(device.info());
  return build(device, "deplo_copy",
               "KERNEL deplo_copy(GLOBAL const V* a, GLOBAL V* b) {\n  STORE(b[INDEX], a[INDEX]);\n}\n",
               {floats("a", ir::Role::input, sweep.elements), floats("b", ir::Role::output, sweep.elements)},
               {sweep.blocks, Sweep::threads, 8 * static_cast<double>(sweep.elements)});
}

// Each thread sums some V of two arrays: neighbouring ones on a CPU, ones that are a grid apart elsewhere.
Probe::Load read(Device& device) {
  constexpr std::int64_t each = 16;
  const Sweep sweep(device.info());
  const std::int64_t blocks = sweep.blocks / each, total = blocks * Sweep::threads;
  const std::string at = device.info().cpu ? fmt::format("INDEX * {} + k", each) : fmt::format("k * {} + INDEX", total);
  const std::string text = fmt::format(
      "KERNEL deplo_read(GLOBAL const V* a, GLOBAL const V* b, GLOBAL V* c) {{\n  V s = a[INDEX];\n"
      "  for (int k = 0; k < {0}; ++k) {{\n    V v = a[{1}], w = b[{1}];\n    ADD(s, v);\n    ADD(s, w);\n  }}\n"
      "  c[INDEX] = s;\n}}\n",
      each, at);
  return build(device, "deplo_read", text,
               {floats("a", ir::Role::input, sweep.elements), floats("b", ir::Role::input, sweep.elements),
                floats("c", ir::Role::output, total * sweep.lanes)},
               {blocks, Sweep::threads, 8 * static_cast<double>(sweep.elements)});
}

// Independent chains: a multiply-add takes 4 cycles and two start in each on both kinds of device, so 8 fill the units
// of a CPU; on a GPU the other warps of a unit do that too.
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

/// NaN everywhere, with which adding is as fast as with other numbers, but for subnormal ones. Pages are touched, so
/// that none is made while time is taken.
std::unique_ptr<Arrays> touched(Device& device, const std::vector<ir::Buffer>& buffers) {
  auto arrays = device.allocate(buffers);
  for (std::size_t i = 0; i < buffers.size(); ++i) arrays->poison(i);
  return arrays;
}

/// A GPU's ceilings are those at its full clock.
void wake(const DeviceInfo& info, const Probe::Load& load, Arrays& arrays) {
  Arrays* const set = &arrays;
  WarmUp warm_up(static_cast<double>(info.clock_mhz), 0);
  while (!info.cpu && !warm_up.done()) {
    const auto sample = load.executable->sample({&set, 1}, load.blocks, 1);
    if (!sample.ok() || check_time(sample.value().us)) return;  // best_rate() meets the same
    warm_up.add(sample.value().us, sample.value().clock_mhz);
  }
}

/// In 10^9 a second; 0 where it does not run.
double best_rate(const Probe::Load& load, Arrays& arrays) {
  double best = 0;
  Arrays* const set = &arrays;
  double spent_us = 0;
  for (int i = 0; i <= least_samples || spent_us < enough_us; ++i) {
    const auto sample = load.executable->sample({&set, 1}, load.blocks, 1);
    if (!sample.ok() || check_time(sample.value().us)) return 0;
    spent_us += sample.value().us;
    if (i > 0) best = std::max(best, load.work / sample.value().us * 1e-3);  // a first launch is biased
  }
  return best;
}

}  // namespace

Probe::Probe(Device& device, const rules::Ceilings& known)
    : device_(device), fma_(multiply_add(device)), known_(known) {
  if (fma_.executable) {
    fma_arrays_ = touched(device_, fma_.buffers);
    // Numbers that stay finite: a GPU's power, and so its clock, depends on what it multiplies.
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
