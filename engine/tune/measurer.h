// Measuring one kernel's candidates: known ones come from the store, new ones are built, timed and stored.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/compiled.h"
#include "engine/compile/kernel_space.h"
#include "engine/source/experiment.h"
#include "engine/tune/session.h"
#include "engine/tune/ties.h"
#include "measure/store/store.h"
#include "measure/worker/runner.h"
#include "search/loop.h"

namespace deplo::engine {

/// What was measured, as a row of the store.
void fill(measure::TrialRecord&, const measure::worker::Reply&);

/// One kernel on one device. Whatever it returns is in the store.
class Measurer {
 public:
  /// Reads what the store knows of the kernel.
  Measurer(const KernelCase&, Session&);

  /// These will be asked for next: they are built ahead where the backend can.
  void prepare(std::span<const search::Candidate>);
  /// The time of a short measurement. `best_us`: candidates far slower than that get less time. What is cancelled is
  /// not stored. Less effort is fewer samples, under a protocol text of its own, stored as `stopped`: never a best.
  search::Measured screen(const search::Candidate&, double best_us);

  struct Final {
    search::Candidate candidate;
    Outcome outcome;  // of full, fully checked runs
  };
  /// Times the candidates against each other, those with the same source once. Stops at a round's end after `seconds`.
  std::vector<Final> confirm(const std::vector<search::Candidate>&, double seconds);

  struct Stored {
    search::Candidate candidate;
    double microseconds = 0;
    bool confirmed = false;
  };
  /// The fastest that any run has stored for the kernel on the device, if this program makes the same source from its
  /// trail; else nullopt.
  std::optional<Stored> stored_best(const KernelSpace&);
  /// As the store ranks it.
  Timed timed(const search::Candidate&, double microseconds) const;
  /// What the store knows of a candidate, which is not measured; nullopt: nothing.
  std::optional<Outcome> recalled(const search::Candidate&);

 private:
  struct Recalled {
    std::int64_t latest_trial = 0;             // of the store when it was read
    std::map<std::string, Outcome> by_digest;  // of the source
  };
  Recalled& recall(const measure::Protocol&);
  const Outcome* known(const std::string& digest, double effort);
  void open();
  Compiled compiled(const search::Candidate&);
  measure::Claim wait_for_claim(const measure::TrialRecord&, std::int64_t since);
  measure::TrialRecord record_of(const Compiled&, measure::Stage, const measure::Protocol&);

  Session& session_;
  measure::worker::Task task_;  // its protocol says what the inputs are
  bool opened_ = false;         // the bench has the task
  std::int64_t kernel_id_ = 0;
  Trail heuristic_;
  std::map<std::string, Recalled> recalled_;  // by the text of the protocol
  std::map<std::string, Compiled> ahead_;     // by trail: asked for next
};

}  // namespace deplo::engine
