// What a stored failure means: for a run that meets the same schedule again, and for what was known before. The
// reasons: docs/measurement.md, "Isolation".
#pragma once
#include <cstdint>

#include "core/outcome.h"

namespace deplo::measure {

/// The machine may have been the reason: another try may go well. What is implausible is so by ceilings that were
/// measured, perhaps while the machine was busy.
inline bool transient(Status status) {
  return status == Status::worker_lost || status == Status::device_lost || status == Status::out_of_memory ||
         status == Status::implausible;
}

/// Costs more than a time to meet again, whatever the rules of timing were: one such is enough.
inline bool quarantined(Status status) {
  return status == Status::hang || status == Status::illegal_access || status == Status::guard_hit ||
         status == Status::build_crash || status == Status::build_timeout;
}

/// Whether a trial that ended so counts against the times of earlier ones. It does not if the machine may have been the
/// reason, or if a compiler died. Neither does a time that was given up on (`stopped`). The rule in SQL:
/// measure/store/evidence.h.
inline bool conclusive(Status status) {
  return !transient(status) && status != Status::cancelled && status != Status::timeout &&
         status != Status::build_crash && status != Status::build_timeout;
}

/// Whether the schedule is measured again. `failures`: how many of its trials were transient ones, the latest included.
inline bool worth_another_try(Status latest, std::int64_t failures) {
  if (latest == Status::cancelled || latest == Status::timeout) return true;  // nothing was found out
  if (latest == Status::worker_lost) return failures < 2;  // the tuner may have died of it as well: two strikes
  return transient(latest) && failures < 3;                // retried at most twice
}

}  // namespace deplo::measure
