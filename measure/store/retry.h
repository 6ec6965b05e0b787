// The meaning of a stored failure: whether the schedule is measured again, and whether earlier times stay valid.
// docs/measurement.md, "Isolation", gives the reasons.
#pragma once
#include <cstdint>

#include "core/outcome.h"

namespace deplo::measure {

/// Returns true if the machine may have caused the failure, so that another try may succeed. `implausible` is one of
/// these statuses, because it depends on measured ceilings, which may be too low if the machine was busy.
inline bool transient(Status status) {
  return status == Status::worker_lost || status == Status::device_lost || status == Status::out_of_memory ||
         status == Status::implausible;
}

/// Returns true if another try would be costly, under any protocol. One such failure is enough to avoid the schedule.
inline bool quarantined(Status status) {
  return status == Status::hang || status == Status::illegal_access || status == Status::guard_hit ||
         status == Status::build_crash || status == Status::build_timeout;
}

/// Returns true if a trial with this status says nothing about the schedule: it was interrupted, or only its energy is
/// missing, which a later search may not need.
inline bool uninformative(Status status) {
  return status == Status::cancelled || status == Status::timeout || status == Status::no_energy;
}

/// Returns true if a trial with this status overrides earlier times. It does not if it says nothing about the schedule,
/// if the machine may have caused the failure, or if a compiler died or timed out. A stopped time (`stopped`) does not
/// override them either. measure/store/evidence.h has the rule in SQL.
inline bool conclusive(Status status) {
  return !transient(status) && !uninformative(status) && status != Status::build_crash &&
         status != Status::build_timeout;
}

/// Returns true if the schedule is measured again. `failures`: the number of its transient() failures, including the
/// latest.
inline bool worth_another_try(Status latest, std::int64_t failures) {
  if (uninformative(latest)) return true;
  if (latest == Status::worker_lost) return failures < 2;  // one more try: the tuner may have died of it, too
  return transient(latest) && failures < 3;                // retried at most twice
}

}  // namespace deplo::measure
