// What a store holds of each kernel, as a report shows it.
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
#include "search/model/effects.h"

namespace deplo::measure::sqlite {
class Database;
}

namespace deplo::apps::report {

/// One row of the store.
struct ReportTrial {
  std::int64_t id = 0;
  std::string trail, digest;  // of the source that it became
  Status status = Status::invalid;
  double us = 0;       // when ok; of another objective than time its value
  double seconds = 0;  // of tuning spent on the kernel until it was stored: time between runs does not count
  bool confirmed = false, stopped = false;
  bool ok() const { return status == Status::ok; }
};

/// How fast a schedule is, µs, as screened and as confirmed, each by its latest trial there; 0: not known. The two are
/// measured by different protocols: only times of one stage are compared.
struct StageTimes {
  double screened = 0, confirmed = 0;
};

/// Times of one stage beside each other.
struct SpeedUp {
  double untuned = 0, best = 0;  // µs; 0: not known
  bool confirmed = false;        // both; else both are screened
  double factor() const { return untuned > 0 && best > 0 ? untuned / best : 0; }
};

/// A kernel on a device, in a line.
struct KernelSummary {
  std::string key, name;
  measure::DeviceInfo device;
  std::size_t trials = 0, failures = 0;  // of all stages
  StageTimes best, untuned;
  std::string objective;   // label of what an imported kernel was searched for; "": the time
  std::string best_value;  // of that objective, with its label; `best` and `untuned` are then unknown
  std::string library;     // the fastest that was measured; "": none
  double library_us = 0;   // confirmed, as all baselines are

  /// Confirmed where both are, else as screened where both are, else what is known of the best.
  SpeedUp speed_up() const;
};

struct FailureKind {
  std::size_t count = 0;
  std::string message, trail;  // of the latest
};

struct TunedKernel {
  KernelSummary summary;
  std::string text;
  std::vector<ReportTrial> trials;              // in the order of the store
  std::map<std::string, FailureKind> failures;  // by status
  std::string best_trail;                       // "": none is valid
  std::string machine_code;                     // of the best schedule, in words; "": not of an NVIDIA GPU
  /// Of the valid trials of its trails under the protocol that most of them have, the latest of each trail.
  std::size_t valid = 0;
  std::vector<search::model::KnobEffect> knobs;
  std::vector<search::model::PairEffect> pairs;
  /// The best trail as these rules read it.
  struct Decision {
    std::string rule, knob, value, untuned;  // "-": the untuned schedule has no such knob
    std::size_t options = 0;
  };
  std::vector<Decision> decisions;
  std::string schedule;    // Tile IR; "": see `unreadable`
  bool imported = false;   // recorded by another program: when is not known
  std::string unreadable;  // why it is not known

  /// Of the source that the trail became last.
  StageTimes times_of(std::string_view trail) const;
};

struct TunedRun {
  std::string started, searcher, revision, host, device;
  std::string experiment;  // what it calls itself; "" where it does not
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
};

/// A store as of the moment when it is opened; tuners may write meanwhile. Its kernels are read one at a time: with all
/// their trials they may take gigabytes. Not thread-safe.
class TunedStore {
 public:
  /// Only kernels of that name ("": all). Throws Error.
  TunedStore(const std::string& file, const std::string& kernel);
  ~TunedStore();
  TunedStore(TunedStore&&) noexcept;
  TunedStore& operator=(TunedStore&&) noexcept;

  struct Entry {
    std::int64_t kernel = 0, device = 0;  // their numbers in the store
    std::string key, name, device_name;
  };
  const std::string& file() const { return file_; }
  /// Those with trials, in the order of the store. At least one.
  const std::vector<Entry>& entries() const { return entries_; }
  TunedKernel read(const Entry&);
  /// Of any kernel.
  std::vector<TunedRun> runs();
  /// Rows that read() left out, because they cannot be what a tuner wrote, a line each.
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

/// Fills decisions, untuned, and schedule or why it is not known.
void explain_schedule(TunedKernel&);

/// A kernel in each store where it is.
struct KernelRow {
  std::string title;
  std::vector<std::optional<KernelSummary>> in;
};
/// What a reader wants to know first: how much faster each kernel became, and how it stands against the library.
void add_overview(Page&, const std::vector<KernelRow>&);

/// One store, or two beside each other.
Page tuning_page(std::vector<TunedStore>&);
/// Of the same kernel in each store; null where it is not there.
std::vector<Figure> kernel_figures(const std::vector<const TunedKernel*>&, const std::vector<std::string>& stores);

/// "A" of the first store.
std::string letter(std::size_t store);

}  // namespace deplo::apps::report
