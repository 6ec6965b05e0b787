// Every measurement ever made, in one SQLite file: append-only facts. Schema and queries: docs/database.md.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/device.h"
#include "measure/protocol/protocol.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/records.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure {

/// One connection to one file; other processes may write to the same file at the same time. Not thread-safe; not to be
/// used across a fork. Every method throws Error(environment) when the file cannot be read or written (no space, …):
/// what was stored before stays intact.
class Store {
 public:
  /// Opens the file, creates it where there is none, migrates an older version. Throws Error that says what is wrong
  /// with the path, or that the file is no database, another program's, damaged or from a newer version.
  /// `longest_wait`: for others' locks, then and later.
  static Store open(const std::string& path, std::chrono::milliseconds longest_wait = sqlite::longest_lock);
  /// One that exists, to read alone: also where the user may not write to it or beside it. What writes throws Error.
  static Store open_to_read(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Throws Error(environment) if the files were deleted, replaced or overwritten since they were opened, as all
  /// functions that write do. Their contents, or at least the rows written here, are then in a new file, which the Error
  /// names (without the batch below: its source still exists).
  void check_files();

  /// The id of the device; a new row only where none has the same backend, name, vendor, driver, platform and units.
  std::int64_t add_device(const DeviceInfo&);
  std::int64_t add_run(const RunRecord&);
  /// The id of the kernel with this text.
  std::int64_t add_kernel(const KernelRecord&);

  /// Says that a candidate is about to be measured: what append() ends. Only what identifies the trial is read.
  std::int64_t begin(const TrialRecord&);
  /// begin(), unless another run is at this source on the device or has come to its end in a trial after number
  /// `since`; one whose reason may have been the machine's is no end (transient() in measure/store/retry.h).
  Claim claim(const TrialRecord&, std::int64_t device, std::int64_t since);
  /// The number of the newest trial; 0 in a store without one.
  std::int64_t latest_trial();
  /// Durable against a kill of this process when it returns (against a power cut within the next checkpoint). `running`
  /// is what begin() gave, 0 without.
  std::int64_t append(const TrialRecord&, std::int64_t running = 0);
  /// All or none.
  void append(std::span<const TrialRecord>);
  /// It was not measured after all: nothing was found out.
  void forget(std::int64_t running);
  /// What was begun by a process of this host that is gone, or by one of another host more than an hour ago, becomes a
  /// trial with the status worker_lost. How many there were.
  std::int64_t settle_lost(std::string_view host);
  /// forget() of all that this process of this host has begun: it stops in the middle of a candidate, by its own will
  /// or for a fault of its own.
  void forget_process(std::string_view host, std::string_view process);

  /// Of each trail the trial that says what is known of it, of any stage, oldest first: the latest conclusive one, else
  /// the latest (measure/store/retry.h). Of other protocols only failures that are dangerous to meet again (quarantined())
  /// count. Compare `digest` before trusting one: the emitter may have changed since.
  std::vector<KnownTrial> known_trials(std::int64_t kernel, std::int64_t device, std::string_view protocol);
  /// The fastest of the trails of which the same rule finds a valid time: confirmed ones before screened ones, full
  /// runs before prefixes, and of those that are as fast as each other the one nearest to the heuristic's schedule
  /// (docs/database.md, "Ties"). Of the trials that were checked with this tolerance, or a smaller one.
  std::optional<TrialRecord> best(std::int64_t kernel, std::int64_t device, double tolerance = default_tolerance);

  /// Kernels with this schedule key (ir/canonical/canonical.h; nullopt: all) that have a best() on the device, each with it.
  std::vector<StoredSchedule> schedules(std::optional<std::string_view> schedule_key, std::int64_t device,
                                        double tolerance = default_tolerance);
  /// Times of such kernels on the device that are no times, and do not count as such anywhere. The latest first.
  std::vector<FaultyTrial> faulty_trials(std::string_view schedule_key, std::int64_t device);
  /// The id of the device, if a run was on it.
  std::optional<std::int64_t> find_device(const DeviceInfo&);
  /// Those with a valid trial.
  std::vector<DeviceInfo> devices();
  /// Names of the devices with a valid trial of a kernel of this key.
  std::vector<std::string> devices_of(std::string_view schedule_key);

  /// Each kernel with a valid time on a device, whether or not that time is anybody's best().
  std::vector<TimedKernel> timed_kernels();

  /// Says how a search ended.
  void append(const SearchRecord&);
  /// Why the latest search with these settings that was finished for the kernel with this text on the device ended;
  /// nullopt: none was finished.
  std::optional<std::string> finished_search(std::string_view kernel_text, std::int64_t device,
                                             std::string_view settings);

  /// What a run saw its device do at best.
  void add_ceilings(std::int64_t run, const rules::Ceilings&);
  /// The highest of all runs.
  rules::Ceilings ceilings(std::int64_t device);

  std::int64_t append(const BaselineRecord&);
  /// The latest of each library, version, precision and number of threads, fastest first; failures last. On the device
  /// itself, and on devices of other programs whose name is the end of the device's ("Intel(R) Xeon(R) …" of PoCL's
  /// "pthread-skylake-avx512-Intel(R) Xeon(R) …").
  std::vector<BaselineRecord> baselines(std::int64_t kernel, std::int64_t device);

 private:
  struct State;
  explicit Store(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace deplo::measure
