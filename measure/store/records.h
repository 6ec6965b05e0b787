// What the store holds, as values. What the columns mean: docs/database.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "measure/device.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure {

struct RunRecord {
  std::int64_t device = 0;
  std::string revision;  // of deplo: the commit it was built from, or its version
  std::string config;    // the experiment's text
  std::string searcher;
  std::uint64_t seed = 0;
  std::string host;
  std::string process = {};  // this_process() of the tuner (measure/store/process_name.h)
  /// Of the rules that made the trails: rules::version_of(). "" where none did, or it was not known.
  std::string pipeline = {};
};

/// `key` identifies the kernel: the digest of its Loop IR text.
struct KernelRecord {
  std::string name, text;
  std::string key() const;
};

enum class Stage : std::uint8_t { screen, confirm };
std::string_view name(Stage);

/// What became of one candidate in one stage. `created` and `id` are given by the store.
struct TrialRecord {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;  // order within the run
  std::int64_t kernel = 0;
  std::string trail;
  std::string digest;  // of the source text: a trail means what the emitter of its time made of it
  Status status = Status::invalid;
  std::string message;
  double build_ms = 0;  // the first launches' part included
  Timing timing = {};   // its median when ok
  std::string protocol;
  Stage stage = Stage::screen;
  Resources resources = {};
  /// Decisions of the trail that differ from the heuristic's, 0 for the heuristic's own schedule; -1: not known.
  std::int64_t changes = -1;
  std::string created = {};
  std::int64_t id = 0;
};

/// What became of the wish to measure a candidate.
struct Claim {
  std::int64_t running = 0;         // as of Store::begin(); 0: somebody else has it
  std::optional<TrialRecord> done;  // what somebody else found
};

/// A trial whose time cannot be true.
struct FaultyTrial {
  std::int64_t id = 0;
  double median_us = 0;
  std::string fault;  // measure/store/upkeep/soundness.h
};

struct StoredSchedule {
  KernelRecord kernel;
  std::string exact_key;
  TrialRecord best;
};

/// A kernel that has a valid time on a device.
struct TimedKernel {
  KernelRecord kernel;
  std::string schedule_key, exact_key;
  std::int64_t device = 0;
  DeviceInfo info;
  std::string revision;  // of the deplo that measured it last
};

/// How the search of a run ended for a kernel.
struct SearchRecord {
  std::int64_t run = 0, kernel = 0;
  std::string settings;   // what the search was asked to do, without its time: the same text, the same search
  std::string stop;       // why it ended
  bool finished = false;  // it ended by itself: neither the time nor the user cut it short
};

/// What is known of a schedule before it is measured: the trial that says it, and how many of its trials failed for a
/// reason that may have been the machine's (transient() in measure/store/retry.h).
struct KnownTrial {
  TrialRecord trial;
  std::int64_t transient_failures = 0;
};

/// How fast something that is not ours computes what a kernel computes.
struct BaselineRecord {
  std::int64_t run = 0, kernel = 0;
  std::string library, version;  // "onednn", "2.7.2"
  std::string precision;         // "fp32", "tf32"
  std::int64_t threads = 0;      // of the host; 0: none of its own
  Status status = Status::ok;
  std::string message = {};
  double median_us = 0;  // when ok
  std::vector<double> samples = {};
  double warm_us = 0;  // 0: not measured
  std::string protocol;
  std::int64_t batch = 0, sets = 0;  // as of Timing; 0: not known
  std::string created = {};          // "": now
};

}  // namespace deplo::measure
