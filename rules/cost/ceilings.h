// The best rates that were measured on a device.
#pragma once
#include <algorithm>

namespace deplo::rules {

/// The best rates ever measured; 0 if not known.
struct Ceilings {
  double copy_gb_s = 0;     // bytes read plus bytes written
  double read_gb_s = 0;     // above copy_gb_s if writes cost more than reads
  double fp32_gflop_s = 0;  // fused multiply-adds of f32, 2 FLOPs each
  double gb_s() const { return std::max(copy_gb_s, read_gb_s); }
  bool operator==(const Ceilings&) const = default;
};

/// Returns the higher of each rate.
inline Ceilings highest(const Ceilings& a, const Ceilings& b) {
  return {std::max(a.copy_gb_s, b.copy_gb_s), std::max(a.read_gb_s, b.read_gb_s),
          std::max(a.fp32_gflop_s, b.fp32_gflop_s)};
}

}  // namespace deplo::rules
