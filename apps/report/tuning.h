// A store's data about each kernel, in the form that a report shows.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/report/page.h"
#include "core/outcome.h"
#include "measure/device.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/pareto_front.h"
#include "search/model/effects.h"

namespace deplo::apps::report {

/// One trial of the store.
struct ReportTrial {
  std::int64_t id = 0;
  std::string trail, digest;  // digest: the hash of the source that the trail became
  std::string proof;          // as in measure::TrialRecord
  std::string fingerprint;    // as in measure::TrialRecord
  Status status = Status::invalid;
  double us = 0;       // the time if ok; if the objective is not time, its value
  double seconds = 0;  // tuning time of the kernel until this trial was stored, without the time between runs
  bool confirmed = false, stopped = false;
  bool ok() const { return status == Status::ok; }
};

/// The times of a schedule in µs, each from its latest trial of that stage; 0: not known. Only times of the same stage
/// are compared, because the stages measure differently.
struct StageTimes {
  double screened = 0, confirmed = 0;
};

/// The times of the untuned and the best schedule, in the same stage.
struct SpeedUp {
  double untuned = 0, best = 0;  // µs; 0: not known
  bool confirmed = false;        // true: both are confirmed; false: both are screened
  double factor() const { return untuned > 0 && best > 0 ? untuned / best : 0; }
};

/// A summary of a kernel on a device.
struct KernelSummary {
  measure::DeviceInfo device;
  std::size_t trials = 0, failures = 0;  // of all stages
  StageTimes best, untuned;
  std::string objective;   // the label of an imported kernel's objective; "": the time
  std::string best_value;  // of that objective, with its label; `best` and `untuned` are then not known
  std::string library;     // the fastest library that was measured; "": none
  double library_us = 0;   // a confirmed time, like those of all baselines

  /// Returns the confirmed times if both are known, else the screened times if both are known, else only the time of
  /// the best.
  SpeedUp speed_up() const;
};

struct FailureKind {
  std::size_t count = 0;
  std::string message, trail;  // of the latest failure
};

struct TunedKernel {
  KernelSummary summary;
  std::string text;
  std::vector<ReportTrial> trials;              // in the order of the store
  std::map<std::string, FailureKind> failures;  // by status
  std::string best_trail;                       // "": no trial is valid
  std::string proof;                            // of the best schedule, as in measure::TrialRecord
  std::string fingerprint;                      // of the best schedule, as in measure::TrialRecord
  std::optional<measure::Front> front;          // set if the latest search had several objectives
  std::string machine_code;  // describes the best schedule's machine code; "": the device is not an NVIDIA GPU
  /// `valid`, `knobs` and `pairs` are computed from the latest valid trial of each trail, under the protocol that most
  /// of the trials have.
  std::size_t valid = 0;
  std::vector<search::model::KnobEffect> knobs;
  std::vector<search::model::PairEffect> pairs;
  /// A decision of the best trail, as this program's rules read it.
  struct Decision {
    std::string rule, knob, value, untuned;  // untuned: "-" if the untuned schedule has no such knob
    std::size_t options = 0;
  };
  std::vector<Decision> decisions;
  std::string schedule;    // Tile IR; "": see `unreadable`
  bool imported = false;   // recorded by another program, at unknown times
  std::string unreadable;  // why `schedule` is not known

  /// Returns the times of the trail's latest source.
  StageTimes times_of(std::string_view trail) const;
};

struct TunedRun {
  std::string started, searcher, revision, host, device;
  std::string experiment;  // name of the experiment; "": it has none
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
};

/// The kernels that the latest run chose for a graph.
struct TunedGraph {
  std::string name, device;
  std::string trail;  // the decisions of fusion
  double heuristic_us = 0, best_us = 0;
};

/// A snapshot of a store at the moment when it is opened; tuners may continue to write. Kernels are read one at a time,
/// because all of them with their trials may take gigabytes. Not thread-safe.
class TunedStore {
 public:
  /// Opens the store. `kernel`: the name of the kernels to read; "": all. Throws Error.
  TunedStore(const std::string& file, const std::string& kernel);

  struct Entry {
    std::int64_t kernel = 0, device = 0;  // their ids in the store
    std::string key, name, device_name;
  };
  const std::string& file() const { return file_; }
  /// Returns the kernels with trials, in the order of the store. There is at least one.
  const std::vector<Entry>& entries() const { return entries_; }
  TunedKernel read(const Entry&);
  /// Returns the runs of all kernels.
  std::vector<TunedRun> runs();
  std::vector<TunedGraph> graphs();
  /// Returns the rows that read() left out, because a tuner cannot have written them; one line each.
  const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  void read_trials(const Entry&, TunedKernel&);
  void read_best(const Entry&, TunedKernel&);
  void read_library(const Entry&, TunedKernel&);
  std::string describe_code(std::int64_t trial);
  std::string file_;
  std::unique_ptr<measure::sqlite::Database> database_;
  std::vector<Entry> entries_;
  std::vector<std::string> damaged_;
};

/// Fills `decisions`, `untuned`, and `schedule` or `unreadable`.
void explain_schedule(TunedKernel&);

/// A kernel in each store; nullopt: the store does not have it.
struct KernelRow {
  std::string title;
  std::vector<std::optional<KernelSummary>> in;
};
/// Adds the overview: how much faster each kernel became, and how it compares with the library.
void add_overview(Page&, const std::vector<KernelRow>&);

/// Returns a page for one store, or for two stores compared with each other.
Page tuning_page(std::vector<TunedStore>&);
/// Returns the figures of one kernel in each store; null: the store does not have it.
std::vector<Figure> kernel_figures(const std::vector<const TunedKernel*>&, const std::vector<std::string>& stores);

/// Returns "A" for the first store.
std::string letter(std::size_t store);

}  // namespace deplo::apps::report
