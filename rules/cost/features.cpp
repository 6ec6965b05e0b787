#include "rules/cost/features.h"

#include <algorithm>
#include <cmath>

#include "ir/hardware/gpu.h"
#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/banks.h"
#include "rules/cost/resources.h"
#include "rules/lower.h"

namespace deplo::rules {
namespace {

void find_launch(const ir::Program& tile, const Target& target, Features& out) {
  out.blocks = static_cast<double>(ir::count_of(tile_of(tile), ir::Bind::block) *
                                   ir::count_of(tile_of(tile), ir::Bind::cluster));
  out.threads = static_cast<double>(ir::count_of(tile_of(tile), ir::Bind::thread));
  out.lanes = static_cast<double>(ir::count_of(tile_of(tile), ir::Bind::vector));
  out.shared_bytes = static_cast<double>(shared_bytes(tile, target));
  out.registers = out.mix.registers + static_cast<double>(target.cpu ? 0 : other_registers);
  const std::int64_t launched = launched_threads(tile_of(tile));
  if (const std::int64_t resident = tile_of(tile).resident; resident > 0)
    out.registers = std::min(out.registers, static_cast<double>(thread_registers(launched, target, resident)));
  const Occupancy fits = occupancy(launched, static_cast<std::int64_t>(out.registers),
                                   static_cast<std::int64_t>(out.shared_bytes), target);
  out.occupancy = fits.fraction;
  out.resident = static_cast<double>(std::max<std::int64_t>(fits.blocks, 1));
  out.waves = out.blocks / (static_cast<double>(target.units) * out.resident);
  out.tail = 1 - out.waves / std::ceil(out.waves);
}

void find_conflicts(const ir::Program& tile, Features& out) {
  double min_wavefronts = 0;
  const double warps = std::ceil(out.threads / ir::gpu::warp) * out.blocks;
  for (const WarpAccess& access : warp_accesses(tile, Unrolled::as_marked)) {
    const BankCost cost = bank_cost(access, *access.stage);
    out.wavefronts += cost.wavefronts * cost.times * warps;
    min_wavefronts += cost.min_wavefronts * cost.times * warps;
    out.joined_loads += (access.times - cost.times) * out.threads * out.blocks;
  }
  out.conflicts = min_wavefronts > 0 ? out.wavefronts / min_wavefronts : 1;
}

// Counts the slabs that a body waits for: those that are filled in it, once per iteration. A pipeline's loop waits
// before it fills. Copies by TMA pass through the banks, too, and use all of them at once.
void find_slabs(const ir::Body& body, double times, Features& out) {
  constexpr double bank_bytes = 4 * ir::gpu::banks;
  bool fills = false;
  for (const ir::Stmt& stmt : body) {
    if (const auto* stage = stmt.as<ir::Stage>()) {
      fills = true;
      if (stage->transport == ir::Transport::tma)
        out.wavefronts +=
            static_cast<double>(ir::slot_count(*stage) * ir::bytes(stage->dtype)) / bank_bytes * times * out.blocks;
      if (body.front().as<ir::AsyncWait>() != nullptr) out.ahead = std::max(out.ahead, stage->slots - 1.0);
    }
    if (const auto* loop = stmt.as<ir::Loop>())
      find_slabs(loop->body, times * static_cast<double>(ceil_div(loop->axis.extent, loop->step)), out);
  }
  if (fills) out.slabs += times;
}

}  // namespace

Features features(const ir::Program& tile, const Target& target) {
  Features out;
  out.mix = count_mix(materialize(tile, target), target);
  find_launch(tile, target, out);
  if (!target.cpu) {
    find_conflicts(tile, out);
    find_slabs(tile_of(tile).body, 1, out);
  }
  for (const ir::Buffer& buffer : tile.buffers)
    out.compulsory_bytes += static_cast<double>(std::min(element_count(buffer), span(buffer)) * bytes(buffer.dtype));
  ir::for_each<ir::Write>(tile.body, [&](const ir::Write& write) {
    if (write.mode == ir::WriteMode::add)
      out.zeroed_bytes = static_cast<double>(span(*tile.find(write.buffer)) * ir::bytes(ir::DType::f32));
  });
  const Traffic traffic(tile, target);
  const auto units = static_cast<double>(target.units);
  for (std::size_t i = 0; i < traffic_caches.size(); ++i)
    out.traffic[i] = traffic.through(traffic_caches[i], i == 0 || target.cpu ? 1 : units * out.resident);
  return out;
}

namespace {

constexpr std::array<std::string_view, 35> names = {
    "blocks", "threads", "lanes", "shared_bytes", "registers", "occupancy", "waves", "tail", "wavefronts", "conflicts",
    "compulsory_bytes", "traffic_l1", "traffic_l2", "traffic_l3", "flops", "arithmetic", "special", "loads", "stores",
    "shared_loads", "shared_stores", "atomics", "prefetches", "branches", "barriers", "requested_bytes", "chain",
    // Ratios per flop or instruction: these do not depend on the size of a kernel.
    "flops_per_byte", "flops_per_byte_l1", "flops_per_byte_l2", "flops_per_instruction", "loads_per_instruction",
    "shared_per_instruction", "branches_per_instruction", "work_of_thread"};

float scaled(double count) { return static_cast<float>(std::log2(1 + count)); }
float ratio(double a, double b) { return static_cast<float>(std::log2((1 + a) / (1 + b))); }

}  // namespace

std::span<const std::string_view> feature_names() { return names; }

std::vector<float> feature_vector(const Features& f) {
  const Mix& m = f.mix;
  const double instructions =
      m.arithmetic + m.special + m.loads + m.stores + m.shared_loads + m.shared_stores + m.branches;
  return {scaled(f.blocks),
          scaled(f.threads),
          scaled(f.lanes),
          scaled(f.shared_bytes),
          scaled(f.registers),
          static_cast<float>(f.occupancy),
          scaled(f.waves),
          static_cast<float>(f.tail),
          scaled(f.wavefronts),
          static_cast<float>(f.conflicts),
          scaled(f.compulsory_bytes),
          scaled(f.traffic[0]),
          scaled(f.traffic[1]),
          scaled(f.traffic[2]),
          scaled(m.flops),
          scaled(m.arithmetic),
          scaled(m.special),
          scaled(m.loads),
          scaled(m.stores),
          scaled(m.shared_loads),
          scaled(m.shared_stores),
          scaled(m.atomics),
          scaled(m.prefetches),
          scaled(m.branches),
          scaled(m.barriers),
          scaled(m.requested_bytes),
          scaled(m.chain),
          ratio(m.flops, f.compulsory_bytes),
          ratio(m.flops, f.traffic[0]),
          ratio(m.flops, f.traffic[1]),
          ratio(m.flops, instructions),
          ratio(m.loads, instructions),
          ratio(m.shared_loads + m.shared_stores, instructions),
          ratio(m.branches, instructions),
          ratio(instructions, f.blocks * f.threads)};
}

}  // namespace deplo::rules
