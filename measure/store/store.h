// Stores all measurements in one SQLite file; rows are only appended. Schema and queries: docs/database.md.
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
#include "measure/store/quantity.h"
#include "measure/store/rows/records.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure {

/// One connection to one file. Other processes may write to the same file at the same time. Not thread-safe; must not
/// be used across a fork. Every method throws Error(environment) if the file cannot be read or written (no space, …);
/// earlier rows stay intact. It has a method for each kind of row that is written and for each question about the rows,
/// because all of them need the same connection. The methods of one subject are defined in one file.
class Store {
 public:
  /// Opens the file; creates it if it does not exist, and migrates an older version. Throws Error if the path is wrong,
  /// or if the file is not a database, belongs to another program, is damaged or has a newer version. `longest_wait`:
  /// how long this and later calls wait for locks of other processes.
  static Store open(const std::string& path, std::chrono::milliseconds longest_wait = sqlite::longest_lock);
  /// Opens an existing store only to read, also one of an older version, which is not migrated. The user needs no right
  /// to write to the file or its folder. Methods that write throw Error.
  static Store open_to_read(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Throws Error(environment) if the files were deleted, replaced or overwritten since they were opened; so do all
  /// methods that write. The contents, or at least the rows written by this Store, are then saved in a new file, which
  /// the Error names. (In the second case, rows of the batch append() below are not saved, because their source still
  /// exists.)
  void check_files();

  /// Returns the id of the device. Adds a row if none has the same backend, name, vendor, driver, platform and units.
  std::int64_t add_device(const DeviceInfo&);
  std::int64_t add_run(const RunRecord&);
  /// Returns the id of the kernel with this text. Adds a row if there is none.
  std::int64_t add_kernel(const KernelRecord&);
  /// Returns the id of the kernel with this text, if there is one.
  std::optional<std::int64_t> find_kernel(const std::string& text);

  /// Announces that a candidate is about to be measured; append() ends the announcement. Reads only the members that
  /// identify the trial. Returns the id for append() and forget().
  std::int64_t begin(const TrialRecord&);
  /// Calls begin(), unless another run is measuring this source on the device, or has measured it in a trial with an id
  /// above `since`. Trials whose status is transient() or uninformative() (measure/store/retry.h) do not count.
  Claim claim(const TrialRecord&, std::int64_t device, std::int64_t since);
  /// Returns the id of the newest trial; 0 if there is none.
  std::int64_t latest_trial();
  /// Adds a trial. When it returns, a kill of this process cannot lose the trial (a power cut can, until the next
  /// checkpoint). `running`: the result of begin(), or 0.
  std::int64_t append(const TrialRecord&, std::int64_t running = 0);
  /// Adds all trials or none.
  void append(std::span<const TrialRecord>);
  /// Removes the announcement of a candidate that was not measured.
  void forget(std::int64_t running);
  /// Turns lost announcements into trials with the status worker_lost, and returns their number. An announcement is
  /// lost if its process on this host is gone, or if a process on another host made it more than an hour ago.
  std::int64_t settle_lost(std::string_view host);
  /// Calls forget() for all announcements of this process on this host. For a process that stops in the middle of a
  /// candidate, intentionally or because of its own fault.
  void forget_process(std::string_view host, std::string_view process);

  /// Returns the evidence of each trail (measure/store/evidence.h), of any stage, oldest first: the latest conclusive
  /// trial, else the latest trial (measure/store/retry.h). Trials of other protocols count only if their status is
  /// quarantined(). Compare the `digest` before using a trial, because the emitter may have changed.
  std::vector<KnownTrial> known_trials(std::int64_t kernel, std::int64_t device, std::string_view protocol);
  /// Returns the best trail whose evidence is a valid time. Confirmed times come before screened ones, and full runs
  /// before prefixes. Among equally fast trails, the one nearest to the heuristic's schedule is best (docs/database.md,
  /// "Ties"). Only trials that were checked with this tolerance or a smaller one count.
  std::optional<TrialRecord> best(std::int64_t kernel, std::int64_t device, double tolerance = default_tolerance);

  /// Like best(), but returns the valid trial of each trail, the oldest first. If the objectives need the energy, times
  /// without an energy do not count.
  std::vector<TrialRecord> valid_trials(std::int64_t kernel, std::int64_t device, double tolerance = default_tolerance,
                                        const Objectives& objectives = {});

  /// Returns the kernels with this schedule key (ir/canonical/canonical.h; nullopt: all) that have a best() on the
  /// device.
  std::vector<StoredSchedule> schedules(std::optional<std::string_view> schedule_key, std::int64_t device,
                                        double tolerance = default_tolerance);
  /// Returns the trials of kernels with this key on the device whose times cannot be true, the latest first. All other
  /// queries ignore these trials.
  std::vector<FaultyTrial> faulty_trials(std::string_view schedule_key, std::int64_t device);
  /// Returns the id of the device, if the store has it.
  std::optional<std::int64_t> find_device(const DeviceInfo&);
  /// Returns the devices with a valid trial.
  std::vector<DeviceInfo> devices();
  /// Returns the names of the devices with a valid trial of a kernel with this key.
  std::vector<std::string> devices_of(std::string_view schedule_key);

  /// Returns the text of the latest measured kernel that is not Loop IR, has a valid time, and has a text that starts
  /// with `beginning`; nullopt if there is none.
  std::optional<std::string> timed_text(std::string_view beginning);
  /// Returns each kernel with a valid time on a device, even if it has no best().
  std::vector<TimedKernel> timed_kernels();

  void append(const SearchRecord&);
  /// Returns SearchRecord::stop of the latest finished search with these settings, for the kernel with this text on the
  /// device; nullopt if no such search was finished.
  std::optional<std::string> finished_search(std::string_view kernel_text, std::int64_t device,
                                             std::string_view settings);

  /// Returns SearchRecord::objectives of the latest search of the kernel on the device; "" if there is none.
  std::string objectives(std::int64_t kernel, std::int64_t device);

  void append(const GraphRecord&);
  /// Returns the latest choice for the graph with this key on the device; nullopt if there is none.
  std::optional<GraphRecord> graph(std::string_view key, std::int64_t device);

  void append(const FamilyRecord&);
  /// Returns the latest family with this key on the device; nullopt if there is none.
  std::optional<FamilyRecord> family(std::string_view key, std::int64_t device);

  /// Adds the ceilings that a run measured on its device.
  void add_ceilings(std::int64_t run, const rules::Ceilings&);
  /// Returns the highest ceilings of all runs on the device.
  rules::Ceilings ceilings(std::int64_t device);

  std::int64_t append(const BaselineRecord&);
  /// Returns the latest baseline of each library, version, precision and number of threads, fastest first; failures
  /// last. Includes baselines on devices of other backends whose name is the end of this device's name ("Intel(R)
  /// Xeon(R) …" for PoCL's "pthread-skylake-avx512-Intel(R) Xeon(R) …").
  std::vector<BaselineRecord> baselines(std::int64_t kernel, std::int64_t device);

 private:
  struct State;
  explicit Store(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace deplo::measure
