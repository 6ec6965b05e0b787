// Measures the candidates of one kernel. Known results come from the store; new candidates are built, timed and stored.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/candidate_space.h"
#include "engine/compile/compiled.h"
#include "engine/source/experiment.h"
#include "engine/tune/bits_filter.h"
#include "engine/tune/session.h"
#include "engine/tune/ties.h"
#include "measure/store/pareto_front.h"
#include "measure/store/store.h"
#include "measure/worker/runner.h"
#include "search/loop.h"

namespace deplo::engine {

/// Copies the results of a measurement into a row for the store.
void fill(measure::TrialRecord&, const measure::worker::Reply&);

/// Describes the inputs of a kernel and, for an opaque kernel, its reference. The text is a part of the protocol.
std::string describe_inputs(const KernelCase&);

/// Throws Error if the runner's device does not run the kernel's language or does not report its objectives, or if bits
/// are required of a kernel without Loop IR.
void check_runs(const KernelCase&, measure::worker::Runner&, const BitsWish&);
/// Throws the first Error of check_runs() if no kernel passes it. Throws Error if the wish names a schedule that a
/// kernel does not have. Finds faults of a run as a whole, before anything is stored.
void check_any_runs(const std::vector<KernelCase>&, measure::worker::Runner&, const BitsWish&, const Target&,
                    const Restrictions&);

/// Measures the candidates of one kernel on one device. All results that it returns are in the store.
class Measurer {
 public:
  /// Reads the store's results for the kernel.
  Measurer(const KernelCase&, Session&);

  struct Screened : search::Measured {
    // values of the kernel's objectives; empty: a failure, or the only objective is the time
    std::vector<double> values = {};
  };

  /// Announces the next candidates. They are built ahead if the backend supports it.
  void prepare(std::span<const search::Candidate>);
  /// Times a candidate in a short measurement. A candidate that Session::bits excludes is returned as `invalid` and
  /// known. Candidates far slower than `best_us` get less time. A cancelled measurement is not stored. A candidate with
  /// reduced effort gets fewer samples; its trial has a protocol text of its own and is stored as `stopped`, so it
  /// never becomes the best. Throws Untunable if the device does not report an objective.
  Screened screen(const search::Candidate&, double best_us);

  struct Final {
    search::Candidate candidate;
    Outcome outcome;    // outcome of full runs with complete checks
    std::string proof;  // as in measure::TrialRecord
  };
  /// Times the candidates in turns, once for each distinct source. After `seconds`, stops at the end of the round. Then
  /// proves the winner (ties.h). If the proof refutes it, its status becomes wrong_result, and the next winner is
  /// proved.
  std::vector<Final> confirm(const std::vector<search::Candidate>&, double seconds);

  struct Stored {
    search::Candidate candidate;
    double microseconds = 0;
    bool confirmed = false;
    std::string proof;  // as in measure::TrialRecord
  };
  /// Returns the fastest candidate that any run has stored for the kernel on the device. Returns nullopt if there is
  /// none, or if this program makes another source from its trail.
  std::optional<Stored> stored_best();
  /// Returns the Pareto front by the kernel's objectives, over all stored trials. This program makes exactly the stored
  /// source from each trail on the front.
  measure::Front front();
  /// Returns the space that is searched.
  const CandidateSpace& space() const { return *space_; }
  /// Returns a candidate's time with what is needed to rank it as the store does.
  Timed timed(const search::Candidate&, double microseconds) const;
  /// Returns the known outcome of a candidate without measuring it, or nullopt if there is none.
  std::optional<Outcome> recalled(const search::Candidate&);

 private:
  struct Known {
    Outcome outcome;
    std::vector<double> values;  // as in Screened
  };
  struct Recalled {
    std::int64_t latest_trial = 0;           // the store's latest trial when the results were read
    std::map<std::string, Known> by_digest;  // key: digest of the source
  };
  Recalled& recall(const measure::Protocol&);
  const Known* known(const std::string& digest, double effort);
  Known known_of(const measure::TrialRecord&, double seconds = 0) const;
  void open();
  void open_filter(const BitsWish&);
  std::string refusal(const Compiled& one) { return filter_ ? filter_->refusal(one) : ""; }
  Compiled compiled(const search::Candidate&);
  measure::Claim wait_for_claim(const measure::TrialRecord&, std::int64_t since);
  measure::TrialRecord record_of(const Compiled&, measure::Stage, const measure::Protocol&);

  Session& session_;
  std::unique_ptr<const CandidateSpace> space_;
  measure::Objectives objectives_;
  std::string place_;                           // place of the kernel, for messages
  std::shared_ptr<const OpaqueKernel> opaque_;  // null: the kernel is stated in Loop IR
  measure::worker::Task task_;                  // its protocol contains the description of the inputs
  bool opened_ = false;                         // true: the runner has the task
  std::int64_t kernel_id_ = 0;
  Trail heuristic_;
  std::map<std::string, Recalled> recalled_;  // key: text of the protocol
  std::map<std::string, Compiled> ahead_;     // key: trail; the candidates of the last prepare()
  std::optional<BitsFilter> filter_;          // nullopt: all bits are allowed
};

}  // namespace deplo::engine
