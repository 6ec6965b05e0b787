// Measures one kernel's candidates: known ones come from the store, new ones are built, timed and stored.
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

/// Fills in what was measured, in a row for the store.
void fill(measure::TrialRecord&, const measure::worker::Reply&);

/// The inputs of a kernel, and what its outputs are compared with if no statements say it: a part of the protocol.
std::string describe_inputs(const KernelCase&);

/// Throws Error unless the runner's device runs the kernel's language and reports its objectives, and a kernel for
/// which bits are wished has them in its Loop IR.
void check_runs(const KernelCase&, measure::worker::Runner&, const BitsWish&);
/// Throws Error if this is so of none of the kernels, or if the wish names a schedule that a kernel does not have. For
/// what is wrong with a run as a whole, before anything is stored.
void check_any_runs(const std::vector<KernelCase>&, measure::worker::Runner&, const BitsWish&, const Target&,
                    const Restrictions&);

/// One kernel on one device. All results that it returns are in the store.
class Measurer {
 public:
  /// Reads what the store knows about the kernel.
  Measurer(const KernelCase&, Session&);

  struct Screened : search::Measured {
    std::vector<double> values = {};  // of the kernel's objectives; empty: of a failure, or for the time alone
  };

  /// Announces the candidates that will be asked for next. They are built ahead if the backend can do so.
  void prepare(std::span<const search::Candidate>);
  /// Times a candidate in a short measurement. One that Session::bits leaves out is `invalid` and known. Candidates far
  /// slower than `best_us` get less time. A cancelled measurement is not stored. A candidate with less effort gets
  /// fewer samples; its trial has a protocol text of its own and is stored as `stopped`, so it never becomes a best.
  /// Throws Untunable if the device does not report an objective.
  Screened screen(const search::Candidate&, double best_us);

  struct Final {
    search::Candidate candidate;
    Outcome outcome;    // of full runs that are checked completely
    std::string proof;  // as in measure::TrialRecord
  };
  /// Times the candidates against each other, once for each distinct source. After `seconds` it stops at the end of the
  /// round. Then the winner (ties.h) is proved. A refuted schedule is a wrong one, and the next winner is proved.
  std::vector<Final> confirm(const std::vector<search::Candidate>&, double seconds);

  struct Stored {
    search::Candidate candidate;
    double microseconds = 0;
    bool confirmed = false;
    std::string proof;  // as in measure::TrialRecord
  };
  /// The fastest candidate that any run has stored for the kernel on the device. nullopt if there is none, or if this
  /// program makes another source from its trail.
  std::optional<Stored> stored_best();
  /// By the kernel's objectives, of all that any run has stored. This program makes the stored source of each trail.
  measure::Front front();
  /// What is searched.
  const CandidateSpace& space() const { return *space_; }
  /// A candidate's time, for ranking as the store ranks.
  Timed timed(const search::Candidate&, double microseconds) const;
  /// What the store knows about a candidate, without measuring it; nullopt: nothing.
  std::optional<Outcome> recalled(const search::Candidate&);

 private:
  struct Known {
    Outcome outcome;
    std::vector<double> values;  // as in Screened
  };
  struct Recalled {
    std::int64_t latest_trial = 0;           // of the store at the time of reading
    std::map<std::string, Known> by_digest;  // by the source's digest
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
  std::string place_;                           // of the kernel, for messages
  std::shared_ptr<const OpaqueKernel> opaque_;  // null: Loop IR states the kernel
  measure::worker::Task task_;                  // its protocol describes the inputs
  bool opened_ = false;                         // the runner has the task
  std::int64_t kernel_id_ = 0;
  Trail heuristic_;
  std::map<std::string, Recalled> recalled_;  // by the text of the protocol
  std::map<std::string, Compiled> ahead_;     // by trail: the candidates of prepare()
  std::optional<BitsFilter> filter_;          // if not all schedules will do
};

}  // namespace deplo::engine
