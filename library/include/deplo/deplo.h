// deplo as a library. It compiles PyTorch expressions, exported programs and models to kernels. Schedules are tuned
// once, kept in a store (one SQLite file, docs/database.md), and looked up from then on. deplo does not build or launch
// kernels in this process: the caller does, as described at Program.
//
// Errors: std::invalid_argument if the request is wrong (an expression, a name, a number, a file);
// std::runtime_error if the environment fails (no such device, no memory, disk full). what() is one line: the place,
// what was expected, and what was found. A candidate that fails during tuning is reported as a Trial, not thrown.
//
// Threads: every function may be called from any thread, also concurrently, but two concurrent tune() calls disturb
// each other's times. The library does not change the caller's signal handlers, environment, current folder or locale.
// (On PoCL, the deplo programs tune with POCL_AFFINITY=1, which must be set before the first use of OpenCL.)
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

/// The computation: exactly one of expression, pt2, model, kernel, tile and space is set.
struct Source {
  std::string expression;  // "F.softmax(torch.randn(4, 1000), dim=-1)": docs/expressions.md. No random values are drawn
  std::string pt2;         // a file written by torch.export.save
  std::string model;       // one block of a model: a name under configs/models, or your own .yaml file
  std::int64_t layer = 0, seq = 1;              // with `model`: the block's number, and the number of tokens
  std::string kernel;                           // Loop IR: a name under configs/kernels, or a .loop file
  std::map<std::string, std::int64_t> symbols;  // sizes that the kernel, expression or .pt2 file leaves open
  std::string tile;                             // NVIDIA's Tile IR, as bytecode or text (docs/tile_programs.md)
  std::string entry;                            // with `tile`: one of its entries; "": the only one
  std::vector<std::string> arguments;  // with `tile`: the launch's arguments, in order: "A=f16[100,64]", "n=64"
  std::string grid;                    // with `tile`: the launch's number of blocks: "64,2"
  // with `tile`: "elements": kernels that compute element by element; "blocks": one kernel that runs the program block
  // by block; "": as tuned, else elements unless they repeat work, or unless only blocks can express the program
  std::string form;
  /// A kernel of your own, with parameters: its T1 or YAML file (docs/kernel_files.md). The program has one launch, of
  /// the best known configuration. Kernel::source has the #defines of its parameters.
  std::string space;
  std::string kernel_file;  // with `space`: the file of the kernel; "": the one that `space` names
  std::string dtype;        // the type of floats for which the source names none: "f32", "f16", "bf16"; "": f32
  bool allow_tf32 = false;  // tensor cores may round f32 factors of a sum to tf32, like PyTorch's flag of that name
  // "fused": one kernel if that is correct; "split": several; "": as tuned, else fused if it pays
  std::string attention;
  // the number of parts for the keys of a one-kernel attention: "4"; "": as tuned, else the heuristic's
  std::string key_parts;
  std::string name = "graph";  // the kernel's name if there is only one; with several: NAME.WHAT_IT_COMPUTES
};

struct CompileOptions {
  /// The device to compile for: "opencl", "opencl:1", "cuda:0" (devices() lists them). No context is created on it.
  /// Must be "" if `target` is set.
  std::string device = "opencl";
  /// The target to compile for if `device` is "": a name under configs/targets ("sm_90", "opencl-cpu").
  std::string target;
  /// The store or pack in which schedules are looked up: a file, which must exist; "": the user's own store
  /// (default_store()), if it exists; nullopt: none, and all schedules are the heuristic's. Only measurements on
  /// exactly this device count (with `target`: on the store's only device of that target); for packs see
  /// `time_foreign`. No row is added; a store of an older deplo is updated.
  std::optional<std::string> store;
  /// A pack (docs/database.md) may have schedules that were measured on other devices with the same target. With
  /// `device`, compile() times each of these once against the heuristic's, as tune() does, for about two seconds, and
  /// uses the faster one; Kernel::note says which. The user's own store remembers the times. false: nothing is timed,
  /// and the schedule of the pack is used (Origin::foreign).
  bool time_foreign = true;
  /// Prefer the schedule of the nearest extents to the heuristic's, if it is legal. Without effect on kernel files and
  /// on tile programs that run block by block.
  bool nearest = false;
  /// Every kernel must have a schedule that was measured on this device (Origin::tuned, shared or family); with
  /// `time_foreign`, also one of a pack, because compile() times it here, unless it is the heuristic's
  /// (Origin::foreign). Otherwise compile() throws std::invalid_argument, which names each kernel without one and the
  /// nearest entry of the store; nothing is timed before that. Requires `store`; cannot be combined with `nearest`.
  bool require_tuned = false;
};

/// Compiles a source to kernels, each with the best known schedule. Measures nothing, except for
/// CompileOptions::time_foreign. Takes milliseconds for a kernel, a second for a model's block.
DEPLO_API Program compile(const Source&, const CompileOptions& = {});

struct TuneOptions {
  std::string device = "opencl";
  std::string store;  // receives all measurements, and its earlier ones are reused; "": the user's own store
  std::string strategy = "default";  // one of those that `deplo strategies` lists
  std::int64_t seed = 0;             // at least 0; the same seed proposes the same schedules
  double seconds = 300;              // for all kernels together; each kernel's heuristic schedule is always measured
  std::int64_t trials = 100;         // maximum number of new measurements for each kernel, at least 1
  std::int64_t patience = 60;        // a kernel's search ends after this many new measurements without a new best
};

/// A candidate of a kernel, with its measurement. It is already in the store.
struct Trial {
  std::string kernel;       // Tuned::kernel
  std::string trail;        // its schedule
  std::string status;       // "ok", or why it has no time: docs/measurement.md, "Outcomes"
  std::string message;      // "" if the status is ok
  double microseconds = 0;  // of one launch, by a short measurement; 0 unless the status is ok
  bool known = false;       // taken from the store, which had measured the same source: used no time and no trial
  double best_us = 0;       // the kernel's best time so far; 0: none yet
};

/// The results of tuning one kernel. Times are medians in microseconds of one launch; 0: no valid measurement.
struct Tuned {
  std::string kernel;
  double heuristic_us = 0, best_us = 0;
  std::string trail;             // the best schedule
  bool confirmed = false;        // the best was timed against the heuristic's, and its whole result was checked
  std::int64_t trials = 0;       // new measurements
  bool alternative = false;      // the heuristic would not make this kernel of the source; tuning compares both
  std::string stop, last_fault;  // why the search ended; the message of the latest failure
};

/// Tunes every kernel of the source: measures the heuristic's schedule, then searches, then times the fastest few
/// against each other. For a graph or a tile program, it also tunes other kernels that the source may become, and
/// stores which of them are the fastest together; compile() with the store then uses these. Each trial is stored, then
/// `on_trial` is called in this thread. If `on_trial` returns false or throws, tuning ends at once, without
/// confirmation. Candidates run in a separate process (PREFIX/bin/deplo), so that the caller survives a candidate that
/// crashes or hangs. Their results are checked against a reference in double precision.
DEPLO_API std::vector<Tuned> tune(const Source&, const TuneOptions& = {},
                                  const std::function<bool(const Trial&)>& on_trial = {});

struct Device {
  std::string id;      // "opencl:0": the value for `device` in the options
  std::string name;    // as its driver reports it
  std::string target;  // the target to compile for; "": no target fits
};

/// The devices of this machine. If OpenCL or CUDA is not installed, its devices are left out.
DEPLO_API std::vector<Device> devices();

/// The user's own store: $XDG_CACHE_HOME/deplo/tuned.db, or ~/.cache/deplo/tuned.db. By default `deplo tune` writes it
/// and `deplo run` reads it.
DEPLO_API std::string default_store();

}  // namespace deplo
