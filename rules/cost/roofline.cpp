#include "rules/cost/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/hardware/gpu.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

// Intel, 64 and IA-32 Architectures Optimization Reference Manual (Skylake server): two multiply-adds, two loads, one
// store and four instructions per cycle; a sum is available after 4 cycles; the second level of the caches gives 64
// bytes per cycle at best and half of that in the long run, the last level about 8.
constexpr double fma_ports = 2, fma_latency = 4, special_slots = 20, loop_instructions = 2, issue_width = 4;
constexpr double l2_bytes_cycle = 32, l3_bytes_cycle = 8, vector_registers = 32;
// CUDA C++ Programming Guide, "Arithmetic Instructions": per cycle, a scheduler executes 32 multiply-adds of a warp, or
// an 8th of a special function of a warp.
constexpr double warp = ir::gpu::warp, schedulers = ir::gpu::schedulers, special_cycles = 8;
// A unit's first-level cache and shared memory are one memory, which gives 128 bytes per cycle (NVIDIA Tesla V100 GPU
// Architecture, and its successors). The second level gives 5,120 bytes per cycle to all units (NVIDIA A100 Tensor Core
// GPU Architecture), which are 39 for each unit of an H100. One sector of 32 bytes is assumed, because conflicts of its
// slices cost the rest.
constexpr double l1_bytes_cycle = 128, l2_sector = 32;
// Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking (arXiv 2402.13499):
// latencies are about 30 cycles for shared memory, 270 for the second level and 500 for memory, on A100, RTX 4090 and
// H100. A barrier takes about as long as shared memory.
constexpr double shared_cycles = 30, barrier_cycles = 30, l2_cycles = 270, memory_cycles = 500;
// Instructions in addition to those of the kernel's statements, as `deplo compile -k matmul --instructions` shows them
// for sm_80 and sm_90: the condition, step and jump of a loop; a barrier with its phase; the addresses of a copy or
// load.
constexpr double jump_instructions = 4, barrier_instructions = 8, copy_instructions = 4;
// Time of a kernel in a graph, from the end of the previous kernel, besides its work. It is assumed, not measured:
// deplodock's fastest kernel with two launches, one of which zeroes the output that is added to, takes 4.9 µs in all.
// Within one shape, the constant distinguishes schedules with one and with two launches.
constexpr double launch_us = 1;
constexpr double usual_gflop_s = 435;  // per unit: 128 multiply-adds per cycle at 1.7 GHz
constexpr double balance = 16;         // FLOPs per byte: A100 12, H100 20, this project's CPU 16

struct Device {
  double flop_us, byte_us;  // µs per FLOP, and per byte
};
Device device_of(const Target& target, const Ceilings& ceilings) {
  const bool known = ceilings.fp32_gflop_s > 0 && ceilings.gb_s() > 0;
  const double flop_us = target.cpu ? 1e-6 : 1e-3 / (usual_gflop_s * static_cast<double>(target.units));
  if (!known) return {flop_us, balance * flop_us};
  return {1e-3 / ceilings.fp32_gflop_s, 1e-3 / ceilings.gb_s()};
}

double cpu_us(const Features& f, const Target& target, const Device& device) {
  const Mix& m = f.mix;
  const double lanes = static_cast<double>(target.vector_lanes);
  const double cycle = device.flop_us * 2 * fma_ports * lanes;  // µs per cycle, divided by the number of units
  // A value without a register is stored once and loaded once.
  const double spilled = std::max(0.0, f.registers - vector_registers) / std::max(f.registers, 1.0) * m.arithmetic;
  const double loads = m.loads + m.shared_loads + m.prefetches + spilled;
  const double stores = m.stores + m.shared_stores + spilled;
  const double arithmetic = m.arithmetic + special_slots * m.special;
  const double slots = arithmetic + loads + stores + loop_instructions * m.branches;
  const double chain = m.chain * fma_latency * f.threads * f.blocks;
  const double core = cycle * std::max({arithmetic / fma_ports, loads / 2, stores, slots / issue_width, chain});
  const double caches = cycle * (f.traffic[0] / l2_bytes_cycle + f.traffic[1] / l3_bytes_cycle);
  const double memory = std::max(f.traffic[2], f.compulsory_bytes) * device.byte_us;
  return core + caches + memory;
}

/// The cycles that a warp needs of each resource for which it may have to queue, and the cycles that it waits without a
/// queue.
struct Demands {
  double issue = 0, special = 0, tensor = 0;  // resources of its scheduler
  double shared = 0, l2 = 0, bytes = 0;       // resources of its unit; bytes: of memory, which all units share
  double wait = 0;
};

Demands demands_of(const Features& f) {
  const Mix& m = f.mix;
  const double threads = f.blocks * f.threads, warps = f.blocks * std::ceil(f.threads / warp);
  const double accesses = m.loads + m.stores + m.shared_loads + m.shared_stores - f.joined_loads;
  const double added = std::max(0.0, m.atomics - m.stores);  // additional instructions: one per element
  Demands d;
  d.issue = (m.arithmetic + m.special + accesses + added + copy_instructions * (m.loads + m.shared_stores)) / threads +
            jump_instructions * m.jumps + barrier_instructions * m.barriers;
  d.special = special_cycles * m.special / threads;
  d.tensor = m.tensor_cycles / warps;
  // Copies bypass the first level, or stage_inputs leaves little to it.
  const double first_level = f.slabs > 0 ? 0 : m.requested_bytes;
  d.shared = (std::max(f.wavefronts, (m.shared_loads + m.shared_stores - f.joined_loads) / warp) +
              first_level / l1_bytes_cycle) /
             warps;
  d.l2 = (f.traffic[0] + 2 * sizeof(float) * m.atomics) / l2_sector / warps;  // an addition reads and writes there
  // If all buffers fit in the last cache, the bounding boxes of what blocks touch overestimate what they load.
  const bool fits = f.compulsory_bytes <= traffic_caches.back();
  d.bytes = (fits ? f.compulsory_bytes : std::max(f.traffic.back(), f.compulsory_bytes)) / warps;
  const double beyond = std::min(1.0, d.bytes / std::max(d.l2 * l2_sector, 1.0));
  const double latency = l2_cycles + (memory_cycles - l2_cycles) * beyond;
  d.wait = shared_cycles * m.shared_waits + barrier_cycles * m.barriers + latency * m.global_waits;
  if (f.ahead == 0) d.wait += latency * f.slabs;
  const double busy = d.issue + d.tensor;
  // Nothing hides the first slab.
  if (f.ahead > 0) d.wait = std::max(d.wait + latency, latency * f.slabs / f.ahead - busy);
  d.wait = std::max(d.wait, fma_latency * m.chain - busy);
  return d;
}

/// Returns the cycles in which `warps` warps on each of `active` schedulers do all their work: mean value analysis of a
/// closed network (Reiser and Lavenberg, Mean-value analysis of closed multichain queuing networks, JACM 27, 1980). A
/// warp that arrives at a resource finds the queue that would be there without this warp; at a resource that the unit
/// has once, it also finds the other schedulers' warps. One warp takes the sum of its demands, many warps take what the
/// busiest resource takes. Between the two, resources are idle although there is work elsewhere.
double network_cycles(const Demands& d, double bytes_cycle, double warps, double active) {
  const std::array own = {d.issue, d.special, d.tensor};
  const std::array common = {d.shared, d.l2, d.bytes / bytes_cycle};
  std::array<double, own.size()> own_queue{};
  std::array<double, common.size()> common_queue{};  // queues of one scheduler's warps
  double all = d.wait;
  for (double i = 1; i <= warps; ++i) {
    const auto before = common_queue;
    auto others = before;
    std::array<double, own.size()> own_spent{};
    constexpr int steps = 30;  // iterations of a fixed point: the other schedulers' queues become as long as this one's
    for (int step = 0; step < steps; ++step) {
      all = d.wait;
      for (std::size_t k = 0; k < own.size(); ++k) all += own_spent[k] = own[k] * (1 + own_queue[k]);
      std::array<double, common.size()> spent{};
      for (std::size_t k = 0; k < common.size(); ++k)
        all += spent[k] = common[k] * (1 + before[k] + (active - 1) * others[k]);
      for (std::size_t k = 0; k < common.size(); ++k) others[k] = i / all * spent[k];
    }
    for (std::size_t k = 0; k < own.size(); ++k) own_queue[k] = i / all * own_spent[k];
    common_queue = others;
  }
  return all;
}

/// Returns the cycles of a round of blocks: `resident` blocks on each of `units` units, which share the memory.
double round_cycles(const Features& f, const Demands& d, double resident, double units, double bytes_cycle) {
  const double warps = resident * std::ceil(f.threads / warp);
  return network_cycles(d, bytes_cycle / units, std::ceil(warps / schedulers), std::min(schedulers, warps));
}

double gpu_us(const Features& f, const Target& target, const Device& device) {
  const auto units = static_cast<double>(target.units);
  const double cycle = device.flop_us * 2 * warp * schedulers * units;  // µs per cycle
  const double bytes_cycle = cycle / device.byte_us;
  const Demands d = demands_of(f);
  const double whole = std::floor(f.blocks / (units * f.resident)), rest = f.blocks - whole * units * f.resident;
  double cycles = whole > 0 ? whole * round_cycles(f, d, f.resident, units, bytes_cycle) : 0;
  if (rest > 0) cycles += round_cycles(f, d, std::ceil(rest / units), std::min(rest, units), bytes_cycle);
  const double zeroing = f.zeroed_bytes > 0 ? launch_us + f.zeroed_bytes * device.byte_us : 0;
  cycles += memory_cycles;  // the writes of the last blocks must arrive before another kernel begins
  return launch_us + zeroing + cycles * cycle;
}

}  // namespace

double roofline_us(const Features& features, const Target& target, const Ceilings& ceilings) {
  const Device device = device_of(target, ceilings);
  if (!target.cpu) return gpu_us(features, target, device);
  return cpu_us(features, target, device) * std::ceil(features.waves) / features.waves;
}

}  // namespace deplo::rules
