#include "measure/protocol/protocol.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "measure/protocol/operand_sets.h"

namespace deplo::measure {

Protocol Protocol::with_effort(double share) const {
  CHECK(share > 0 && share <= 1);
  Protocol less = *this;
  less.samples = static_cast<int>(std::ceil(share * samples));
  return less;
}

std::string Protocol::text() const {
  std::string text = fmt::format(
      "v2 device-span cold={}xL2<={}sets<={}MiB full_ms={} slow={}x{}us samples={} sample_us={} stop={},{} "
      "confirm_us={} finalists={},{}x{} rounds={}..{} tie={} warm={} clock={},{} batch={} plausible={}",
      cold_factor, max_operand_sets, max_operand_bytes >> 20, full_run_ms, slow, slow_us, samples, sample_us,
      discard_stop, early_stop, confirm_sample_us, finalists, max_finalists, finalist_margin, rounds, max_rounds, tie,
      warm_samples, screen_clock, confirm_clock, max_batch, plausible);
  if (tolerance != default_tolerance) text += fmt::format(" tolerance={}", tolerance);
  if (!inputs.empty()) text += fmt::format(" inputs={{{}}}", inputs);
  return text;
}

}  // namespace deplo::measure
