#include "measure/protocol/protocol.h"

#include <fmt/format.h>

#include <array>
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

std::span<const ProtocolNumber> protocol_numbers() {
  // These upper bounds only catch typing errors: nobody would wait for larger numbers.
  constexpr double max_samples = 1000, max_contenders = 100'000, any_slower = 1e6;
  static constexpr std::array numbers{ProtocolNumber{"samples", &Protocol::samples, 1, max_samples},
                                      ProtocolNumber{"early_stop", &Protocol::early_stop, 1, any_slower},
                                      ProtocolNumber{"finalists", &Protocol::finalists, 1, max_contenders},
                                      ProtocolNumber{"max_finalists", &Protocol::max_finalists, 1, max_contenders},
                                      ProtocolNumber{"finalist_margin", &Protocol::finalist_margin, 1, any_slower},
                                      ProtocolNumber{"rounds", &Protocol::rounds, 1, max_samples},
                                      ProtocolNumber{"max_rounds", &Protocol::max_rounds, 1, max_samples}};
  return numbers;
}

}  // namespace deplo::measure
