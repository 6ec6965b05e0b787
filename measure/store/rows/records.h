// The store's rows as plain data. docs/database.md explains the columns.
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
  std::string revision;  // of deplo: the commit from which it was built, or its version
  std::string config;    // the experiment's text
  std::string searcher;
  std::uint64_t seed = 0;
  std::string host;
  std::string process = {};  // this_process() of the tuner (measure/store/process_name.h)
  /// The version of the rules that made the trails: rules::version_of(). "": no rules made them, or it is not known.
  std::string pipeline = {};
};

/// `key` identifies the kernel: the digest of its Loop IR text.
struct KernelRecord {
  std::string name, text;
  std::string key() const;
};

enum class Stage : std::uint8_t { screen, confirm };
std::string_view name(Stage);

/// The result of one candidate in one stage. The store sets `created` and `id`.
struct TrialRecord {
  std::int64_t run = 0;
  std::int64_t ordinal = 0;  // order within the run
  std::int64_t kernel = 0;
  std::string trail;
  std::string digest;  // of the source text; another version of deplo may emit other source for the same trail
  Status status = Status::invalid;
  std::string message;
  double build_ms = 0;  // including Timing::first_launch_ms
  Timing timing = {};   // has a median if the status is ok
  std::string protocol;
  Stage stage = Stage::screen;
  Resources resources = {};
  /// The number of decisions that differ from the heuristic's; 0: the heuristic's own schedule; -1: not known.
  std::int64_t changes = -1;
  std::string proof = {};  // print(ir::ProofVerdict); "": no proof was tried
  /// print(ir::Fingerprint) of the outputs, and of one of their rows; "": not computed.
  std::string fingerprint = {}, row_fingerprint = {};
  std::string created = {};
  std::int64_t id = 0;
};

/// The result of Store::claim().
struct Claim {
  std::int64_t running = 0;         // the id, as from Store::begin(); 0: another run has the candidate
  std::optional<TrialRecord> done;  // the trial of another run, if it is done
};

/// A trial whose time cannot be true.
struct FaultyTrial {
  std::int64_t id = 0;
  double median_us = 0;
  std::string fault;  // by fault_of() (measure/store/soundness.h)
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
  std::string revision;  // of the deplo that measured the kernel last
};

/// How the search of a run ended for a kernel.
struct SearchRecord {
  std::int64_t run = 0, kernel = 0;
  std::string settings;         // identifies the search: all its settings except the time
  std::string stop;             // why it ended
  bool finished = false;        // neither the time limit nor the user ended it early
  std::string objectives = {};  // print(Objectives) if there are several (measure/store/quantity.h); "": the time alone
};

/// The kernels that a run chose for a graph.
struct GraphRecord {
  std::int64_t run = 0;
  std::string key;           // identifies the graph (engine/compile/graph_choice.h)
  std::string name;          // the graph's name in the experiment
  std::string trail;         // the decisions of fusion
  std::string digest;        // of the kernels to which these decisions led
  double heuristic_us = 0;   // the sum of the best times of the kernels that the heuristic chooses
  double median_us = 0;      // the same sum for the kernels of `trail`
  std::string created = {};  // set by the store, like `id`
  std::int64_t id = 0;
};

/// The few schedules that a run kept for a family of shapes, and the rule that chooses among them.
struct FamilyRecord {
  std::int64_t run = 0;
  KernelRecord kernel = {};   // one kernel of the family
  std::string key;            // identifies the family's form (engine/compile/dispatch.h)
  std::string name;           // the family's name in the experiment
  std::string rule;           // JSON: print(engine::DispatchRule)
  std::string goal;           // the loss that was asked for: "worst 0.05"
  double loss = 0;            // the rule's loss on the family's own shapes
  std::string pipeline = {};  // as in RunRecord; set by the store, like the next two
  std::string created = {};
  std::int64_t id = 0;
};

/// The knowledge about a schedule before it is measured: its evidence (measure/store/evidence.h), and the number of its
/// failures that the machine may have caused (transient() in measure/store/retry.h).
struct KnownTrial {
  TrialRecord trial;
  std::int64_t transient_failures = 0;
};

/// The time of a library function, or of another program, for the same computation as a kernel.
struct BaselineRecord {
  std::int64_t run = 0, kernel = 0;
  std::string library, version;  // "onednn", "2.7.2"
  std::string precision;         // "fp32", "tf32"
  std::int64_t threads = 0;      // threads on the host; 0: the library has none of its own
  Status status = Status::ok;
  std::string message = {};
  double median_us = 0;  // only if the status is ok
  std::vector<double> samples = {};
  double warm_us = 0;  // 0: not measured
  std::string protocol;
  std::int64_t batch = 0, sets = 0;  // as in Timing; 0: not known
  std::string created = {};          // "": append() sets the current time
};

}  // namespace deplo::measure
