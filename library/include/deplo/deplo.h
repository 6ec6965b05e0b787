// deplo as a library: PyTorch expressions, exported programs and models become kernels; schedules are tuned once, kept
// in a store (one SQLite file, docs/database.md) and looked up from then on. deplo builds and launches nothing in this
// process: the caller does, as Program says.
//
// Errors: std::invalid_argument if the request is wrong (an expression, a name, a number, a file);
// std::runtime_error if the environment fails (no such device, no memory, disk full). what() is one line with place,
// expectation and finding. A candidate that fails while tuning is not an error but a Trial.
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

/// What is computed: exactly one of expression, pt2, model, kernel, tile.
struct Source {
  std::string expression;  // "F.softmax(torch.randn(4, 1000), dim=-1)": docs/expressions.md. Values are not drawn
  std::string pt2;         // a file written by torch.export.save
  std::string model;       // one block of a model: a name under configs/models, or a .yaml file of your own …
  std::int64_t layer = 0, seq = 1;              // … which block, and the number of tokens
  std::string kernel;                           // Loop IR: a name under configs/kernels, or a .loop file …
  std::map<std::string, std::int64_t> symbols;  // … and its sizes
  std::string tile;                             // NVIDIA's Tile IR, as bytecode or text (docs/tile_programs.md) …
  std::string entry;                            // … one of its entries; "": its only one …
  std::vector<std::string> arguments;           // … what it is launched on, in order: "A=f16[100,64]", "n=64" …
  std::string grid;                             // … and in how many blocks: "64,2"
  std::string dtype;           // of floats whose type the source leaves open: "f32", "f16", "bf16"; "": f32
  bool allow_tf32 = false;     // tensor cores may round f32 factors of a sum to tf32, as PyTorch's flag of that name
  std::string attention;       // of a graph: "fused" in one kernel wherever that is right, "split" in several; "": what pays
  std::string key_parts;       // of an attention in one kernel: its keys in so many parts, "4"; "": what the target wants
  std::string name = "graph";  // kernels are called by it: NAME where there is one, else NAME.WHAT_IT_COMPUTES
};

struct CompileOptions {
  /// Compile for this device, "opencl", "opencl:1", "cuda:0" (devices() lists them), without making a context there.
  /// If it is empty, compile for a target: a name under configs/targets ("sm_90", "opencl-cpu"); no device is needed.
  std::string device = "opencl";
  std::string target;
  /// Where schedules are looked up: a store's file, which must exist; "": the user's own (default_store()), if it
  /// exists; nullopt: nowhere, all are the heuristic's. Only measurements on this very device count (for a target: on
  /// the one device of the store that it fits). No row is added; a store of an older deplo is updated.
  std::optional<std::string> store;
  bool nearest = false;  // prefer a legal schedule of the nearest extents to the heuristic's
  /// Every kernel must have a schedule that was measured (Origin::tuned or Origin::shared), else compile() throws
  /// std::invalid_argument, which names each kernel without one and the nearest entry of the store. Needs `store`, and
  /// no `nearest`.
  bool require_tuned = false;
};

/// The kernels of a graph, each with the best schedule known. Nothing is ever timed here. Milliseconds for a kernel, a
/// second for a model's block.
DEPLO_API Program compile(const Source&, const CompileOptions& = {});

struct TuneOptions {
  std::string device = "opencl";
  std::string store;                 // keeps all measurements, and answers from earlier ones; "": the user's own
  std::string strategy = "default";  // of `deplo strategies`
  std::int64_t seed = 0;             // from 0 on; the same seed asks for the same schedules
  double seconds = 300;              // for all kernels together; the heuristic's schedule of each is always measured
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
  std::string stop, last_fault;  // why the search ended; the message of the latest failure
};

/// Tunes every kernel of the graph: the heuristic's schedule first, then the search, then the fastest few against each
/// other. Each trial is stored before `on_trial` is told of it, in this thread; false ends tuning at once, unconfirmed,
/// and so does an exception. Candidates run in a process of their own (PREFIX/bin/deplo), so the caller survives one that
/// crashes or hangs. They are checked against a reference in double.
DEPLO_API std::vector<Tuned> tune(const Source&, const TuneOptions& = {},
                                  const std::function<bool(const Trial&)>& on_trial = {});

struct Device {
  std::string id;      // "opencl:0", as options take it
  std::string name;    // as its driver says it
  std::string target;  // the target to compile for; "": none fits
};

/// The devices of this machine; none of OpenCL or CUDA if that is missing.
DEPLO_API std::vector<Device> devices();

/// $XDG_CACHE_HOME/deplo/tuned.db, or ~/.cache/deplo/tuned.db: `deplo tune` writes it, `deplo run` reads it.
DEPLO_API std::string default_store();

}  // namespace deplo
