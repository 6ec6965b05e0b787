// deplo as a library: PyTorch expressions, exported programs and models become kernels; schedules are tuned once, kept
// in a store (one SQLite file, docs/database.md) and looked up from then on. deplo builds and launches nothing in this
// process: the caller does, by what Program says.
//
// Errors: std::invalid_argument where what was asked for is wrong (an expression, a name, a number, a file), and
// std::runtime_error where the environment is (no such device, no memory, a disk that is full); what() is one line that
// says what was expected, what was found and where. Candidates that fail while tuning are no errors: Trial says so.
//
// Threads: every function may be called from any thread, several at a time (two that tune disturb each other's times).
// The caller's signal handlers, environment, current folder and locale are left as they are. (On PoCL deplo's own
// programs tune with POCL_AFFINITY=1, which must be set before OpenCL is first touched.)
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deplo/program.h"

#define DEPLO_API __attribute__((visibility("default")))

namespace deplo {

/// What is computed: exactly one of expression, pt2, model, kernel.
struct Source {
  std::string expression;  // "F.softmax(torch.randn(4, 1000), dim=-1)": docs/expressions.md. Values are not drawn
  std::string pt2;         // a file that torch.export.save wrote
  std::string model;       // one block of a model: a name under configs/models, or a .yaml file of your own …
  std::int64_t layer = 0, seq = 1;              // … which block, and the number of tokens
  std::string kernel;                           // Loop IR: a name under configs/kernels, or a .loop file …
  std::map<std::string, std::int64_t> symbols;  // … and its sizes
  std::string name = "graph";  // kernels are called by it: NAME where there is one, else NAME.WHAT_IT_COMPUTES
};

struct CompileOptions {
  /// Compile for this device, "opencl", "opencl:1", "cuda:0" (devices() lists them), without making a context there;
  /// or, where it is empty, for a target: a name under configs/targets ("sm_90", "opencl-cpu"), which needs no device.
  std::string device = "opencl";
  std::string target;
  /// Where schedules are looked up: a store's file, which must be there; "": the user's own (default_store()), if there
  /// is one; nullopt: nowhere, all are the heuristic's. Only what was measured on the very device counts (for a target:
  /// on the one device of the store that it is for). No row is added; a store of an older deplo is brought up to date.
  std::optional<std::string> store;
  bool nearest = false;  // the schedule of the nearest extents, where it is legal, before the heuristic's
};

/// The kernels of a graph, each with the best schedule known. Milliseconds for a kernel, a second for a model's block.
DEPLO_API Program compile(const Source&, const CompileOptions& = {});

struct TuneOptions {
  std::string device = "opencl";
  std::string store;                 // what is measured goes there, and what is there counts; "": the user's own
  std::string strategy = "default";  // of `deplo strategies`
  std::int64_t seed = 0;             // from 0 on; the same seed asks for the same schedules
  double seconds = 300;              // for all kernels together; each has its heuristic measured whatever it takes
  std::int64_t trials = 100;         // new measurements of each kernel, at least 1
  std::int64_t patience = 60;        // new measurements of one kernel in a row without a new best
};

/// One candidate of one kernel, as it was measured; it is in the store already.
struct Trial {
  std::string kernel;       // Tuned::kernel
  std::string trail;        // its schedule
  std::string status;       // "ok", or why it has no time: docs/measurement.md, "Outcomes"
  std::string message;      // "" where it is ok
  double microseconds = 0;  // of one launch, a short measurement; 0 unless ok
  bool known = false;       // answered from the store, by the same source: took no time and no trial
  double best_us = 0;       // of the kernel so far; 0: none yet
};

/// What is known of one kernel after tuning. Times are medians in microseconds of one launch; 0: no valid measurement.
struct Tuned {
  std::string kernel;
  double heuristic_us = 0, best_us = 0;
  std::string trail;             // of the best
  bool confirmed = false;        // timed against the heuristic, with its whole result checked
  std::int64_t trials = 0;       // new measurements
  std::string stop, last_fault;  // why the search ended; what the latest failure said
};

/// Tunes every kernel of the graph: the heuristic's schedule first, then the search, then the fastest few against each
/// other. Each trial is stored before `on_trial` is told of it, in this thread; false ends tuning at once, unconfirmed,
/// and an exception does so, too. Candidates run in a process of their own (PREFIX/bin/deplo), so one that crashes or
/// hangs costs itself alone; they are checked against a reference in double.
DEPLO_API std::vector<Tuned> tune(const Source&, const TuneOptions& = {},
                                  const std::function<bool(const Trial&)>& on_trial = {});

struct Device {
  std::string id;      // "opencl:0", as options take it
  std::string name;    // as its driver says it
  std::string target;  // what is compiled for it; "": nothing here is
};

/// Of this machine; an OpenCL or CUDA that is not there has none.
DEPLO_API std::vector<Device> devices();

/// $XDG_CACHE_HOME/deplo/tuned.db, or ~/.cache/deplo/tuned.db: what `deplo tune` writes and `deplo run` reads.
DEPLO_API std::string default_store();

}  // namespace deplo
