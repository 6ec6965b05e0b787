// Decides whether this machine uses a schedule that was measured on another machine.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "core/target.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"
#include "measure/device_info.h"
#include "measure/worker/runner.h"

namespace deplo::engine {

/// Times each foreign schedule once against the heuristic's schedule, alternately in full runs, with the same checks as
/// in tuning. The times are stored as trials in the user's own store (default_store()), so the decision is remembered:
/// now and later, the fastest schedule that the store knows for the kernel is used. Not thread-safe.
class Adoption {
 public:
  struct Options {
    std::string device;  // as in open_runner()
    measure::DeviceInfo info;
    Target target;
    double tolerance = measure::default_tolerance;
    std::function<void(const std::string& kernel)> on_timing = {};  // called before a kernel is timed; may be empty
  };
  explicit Adoption(Options);
  ~Adoption();

  /// Returns the schedule to use instead of `foreign`. Its note has both times and says which schedule was kept. If
  /// `foreign` equals the heuristic's schedule, it is used without timing. If nothing can be timed, the heuristic's
  /// schedule is used, and the note says why.
  Schedule decide(const ir::Program& kernel, const Schedule& foreign);

 private:
  struct Times;
  /// Returns the stored times of both schedules, or nullopt if one of them was not measured on this machine.
  std::optional<Times> recall(const KernelCase&, const Schedule& foreign, const Schedule& heuristic) const;
  void time(const KernelCase&, const Schedule& foreign, const Schedule& heuristic);
  Schedule choose(const ir::Program& kernel, const Schedule& foreign, const Times&) const;

  Options options_;
  std::string store_;
  std::unique_ptr<measure::worker::Runner> runner_;  // opened on first use
};

}  // namespace deplo::engine
