#include "rules/cost/roofline.h"

#include <algorithm>
#include <cmath>

namespace deplo::rules {
namespace {

// Intel, 64 and IA-32 Architectures Optimization Reference Manual (Skylake server): two multiply-adds and two loads a
// cycle, one store, four instructions; a sum is there after 4 cycles; the second level gives 64 bytes a cycle at best
// and half of it for long, the last about 8.
constexpr double fma_ports = 2, fma_latency = 4, special_slots = 20, loop_instructions = 2, issue_width = 4;
constexpr double l2_bytes_cycle = 32, l3_bytes_cycle = 8, vector_registers = 32;
// CUDA C++ Programming Guide, "Arithmetic Instructions": 128 multiply-adds a cycle and unit, 16 special; 32 words of
// shared memory. The second level gives about three times the memory's bytes.
constexpr double cuda_cores = 128, cuda_special = 8, schedulers = 4, warp = 32, l2_over_memory = 3, enough = 0.25;
constexpr double balance = 16;  // FLOPs a byte: A100 12, H100 20, this project's CPU 16

struct Device {
  double flop_us, byte_us;  // µs of one
};
Device device_of(const Ceilings& ceilings) {
  const bool known = ceilings.fp32_gflop_s > 0 && ceilings.gb_s() > 0;
  if (!known) return {1e-6, balance * 1e-6};
  return {1e-3 / ceilings.fp32_gflop_s, 1e-3 / ceilings.gb_s()};
}

double cpu_us(const Features& f, const Target& target, const Device& device) {
  const Mix& m = f.mix;
  const double lanes = static_cast<double>(target.vector_lanes);
  const double cycle = device.flop_us * 2 * fma_ports * lanes;  // of all units together
  // A value that has no register is stored once and loaded once.
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

double gpu_us(const Features& f, const Target& target, const Device& device) {
  const Mix& m = f.mix;
  const double cycle = device.flop_us * 2 * cuda_cores;  // of all units together
  const double arithmetic = (m.arithmetic + cuda_special * m.special) / cuda_cores;
  const double shared = std::max(f.wavefronts, (m.shared_loads + m.shared_stores) / warp);
  const double accesses = (m.loads + m.stores + m.shared_loads + m.shared_stores) / warp;
  const double issue = (m.arithmetic + m.special + 2 * m.branches) / warp / schedulers + accesses;
  const double core = cycle * std::max({arithmetic, shared, issue});
  const double l2 = f.traffic[0] * device.byte_us / l2_over_memory;
  const double memory = std::max(f.traffic[2], f.compulsory_bytes) * device.byte_us;
  const double hidden = std::clamp(f.occupancy / enough, 0.05, 1.0);
  const double chain = m.chain * fma_latency * cycle * static_cast<double>(target.units) * std::ceil(f.waves);
  return std::max(std::max({core, l2, memory}) / hidden, chain);
}

}  // namespace

double roofline_us(const Features& features, const Target& target, const Ceilings& ceilings) {
  const Device device = device_of(ceilings);
  const double us = target.cpu ? cpu_us(features, target, device) : gpu_us(features, target, device);
  return us * std::ceil(features.waves) / features.waves;
}

}  // namespace deplo::rules
