// Decides whether a schedule that was measured on another machine is used on this one.
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

/// Times each foreign schedule once against the heuristic's, in full runs and in turns, with the same checks as in
/// tuning. The times are trials in the user's own store (default_store()), which thereby remembers the decision: the
/// fastest schedule that it knows for the kernel is used, now and later. Not thread-safe.
class Adoption {
 public:
  struct Options {
    std::string device;  // as for open_runner()
    measure::DeviceInfo info;
    Target target;
    double tolerance = measure::default_tolerance;
    std::function<void(const std::string& kernel)> on_timing = {};  // called before a kernel is timed; may be empty
  };
  explicit Adoption(Options);
  ~Adoption();

  /// The schedule to use instead of `foreign`. Its note has both times and says which one was kept. If `foreign` is the
  /// heuristic's, it is used untimed. If nothing can be timed, the heuristic's is used, and the note says why.
  Schedule decide(const ir::Program& kernel, const Schedule& foreign);

 private:
  struct Times;
  /// What the store knows about both; nullopt if one of them was not measured here.
  std::optional<Times> recall(const KernelCase&, const Schedule& foreign, const Schedule& heuristic) const;
  void time(const KernelCase&, const Schedule& foreign, const Schedule& heuristic);
  Schedule choose(const ir::Program& kernel, const Schedule& foreign, const Times&) const;

  Options options_;
  std::string store_;
  std::unique_ptr<measure::worker::Runner> runner_;  // opened when it is first needed
};

}  // namespace deplo::engine
