// Every measurement ever made, in one SQLite file: append-only facts. Schema and queries: docs/database.md.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "measure/device.h"

namespace deplo::measure {

struct RunRecord {
  std::int64_t device = 0;
  std::string revision;  // of deplo, as `git describe` says it
  std::string config;    // the experiment's text
  std::string searcher;
  std::uint64_t seed = 0;
  std::string host;
};

/// `key` identifies the kernel: the digest of its Loop IR text.
struct KernelRecord {
  std::string name, text;
  std::string key() const;
};

enum class Stage : std::uint8_t { screen, confirm };

/// What became of one candidate in one stage. `created` and `id` are given by the store.
struct TrialRecord {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;  // order within the run
  std::int64_t kernel = 0;
  std::string trail;
  std::string digest;  // of the source text: a trail means what the emitter of its time made of it
  Status status = Status::invalid;
  std::string message;
  double build_ms = 0;
  double median_us = 0;         // of one full run; when ok
  double fidelity = 0;          // part of the grid that ran, 0 where nothing ran
  std::vector<double> samples;  // µs per full run
  std::string protocol;
  Stage stage = Stage::screen;
  std::string created;
  std::int64_t id = 0;
};

/// One connection to one file; other processes may write to the same file at the same time. Not thread-safe; not to be
/// used across a fork. Every method throws Error(environment) when the file cannot be read or written (no space, …):
/// what was stored before stays intact.
class Store {
 public:
  /// Opens the file, creates it where there is none, migrates an older version. Throws Error that says what is wrong
  /// with the path, or that the file is no database, another program's, damaged or from a newer version.
  static Store open(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// The id of the device; a new row only where none has the same backend, name, vendor, driver, platform and units.
  std::int64_t add_device(const DeviceInfo&);
  std::int64_t add_run(const RunRecord&);
  /// The id of the kernel with this text.
  std::int64_t add_kernel(const KernelRecord&);

  /// Durable against a kill of this process when it returns (against a power cut within the next checkpoint).
  std::int64_t append(const TrialRecord&);
  /// All or none.
  void append(std::span<const TrialRecord>);

  /// The latest trial of each trail, of any stage, oldest first. Compare `digest` before trusting one: the emitter may
  /// have changed since.
  std::vector<TrialRecord> known_trials(std::int64_t kernel, std::int64_t device, std::string_view protocol);
  /// The fastest of the trails whose latest trial is ok: confirmed ones before screened ones, full runs before
  /// prefixes.
  std::optional<TrialRecord> best(std::int64_t kernel, std::int64_t device);

 private:
  struct State;
  explicit Store(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

std::string_view name(Stage);

}  // namespace deplo::measure
