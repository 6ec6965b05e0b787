// `deplo bench`: times each kernel of a graph against the libraries that have it, in alternating rounds.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/device_flags.h"
#include "core/progress.h"
#include "engine/compile/tuned.h"
#include "engine/source/load.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/protocol.h"
#include "measure/protocol/sampling.h"

namespace deplo::apps {

struct BenchOptions : DeviceOptions {  // if `tuned` is not set: `store` if it exists, else the user's own
  engine::KernelSelection selection;
  std::optional<std::string> config;          // an experiment; its kernels are timed instead of `selection`
  engine::SourceOptions source_options = {};  // options for the experiment's sources
  double seconds = 10;                        // time for the rounds of each kernel; the first round always runs
  std::optional<std::string> store;           // the store that receives the results
  bool in_process = false;                    // run kernels in this process, for a debugger
  std::vector<std::string> ab;  // two trails, timed against each other instead of known schedules; the first is `ours`
};

/// A contender's times, or its failure. Sample i of all contenders is of the same round.
struct BenchTime : measure::Timing {
  std::string failure;  // "wrong_result: …"; "": it was timed
};

/// The precision of a baseline that is deplo's own kernel with another schedule.
inline constexpr const char* own_precision = "ours";

struct BenchBaseline {
  std::string library, version, precision;
  std::int64_t threads = 0;
  BenchTime time;
  double ratio = 0;  // median over the rounds of the baseline's time / deplo's time; above 1: deplo is faster
  measure::Interval interval = {};  // 95 % interval of that median
  // "": timed now; else when the stored time was measured. `ratio` is then the ratio of the medians.
  std::string date = {};
};

struct BenchKernel : engine::Provenance {
  std::string name;
  std::size_t first = 0;  // index of the first equal kernel, whose times it shares; its own if there is none
  std::string trail;
  BenchTime ours;
  double model_us = 0;  // the analytic model's time under the device's measured ceilings; 0: none
  // The time of the work that no schedule can avoid, under these ceilings and with all bytes from memory; 0: none.
  double bound_us = 0;
  std::vector<BenchBaseline> baselines;
  std::string no_baseline;  // why there is no baseline, or why a possible one is missing
  bool allow_tf32 = false;  // the kernel allows tf32
};

struct BenchReport {
  std::string device, target, store, tuned, protocol;
  std::size_t asked = 0;             // number of kernels to time
  std::vector<BenchKernel> kernels;  // fewer while it runs, and after an interrupt
  bool right() const;                // true if each of deplo's kernels was right and has a time
};

/// Times the kernels. `on_kernel` is called with the results so far, at the start and after each kernel. An interrupt
/// (core/interrupt.h) ends it early; the current kernel is left out. A kernel that kills its process gets a row with
/// the failure; the others are still timed. Throws Error if the source or the options are wrong; Error(environment) if
/// there is no such device.
BenchReport bench_kernels(const BenchOptions&, Progress&, const std::function<void(const BenchReport&)>& on_kernel);

/// Returns "45.2 µs (heuristic); oneDNN 1.135x": the time of deplo's kernel, and BenchBaseline::ratio of each baseline.
std::string describe(const BenchKernel&);

/// Returns the table. `width`: the window's width in columns; 0: no limit.
std::string print_table(const BenchReport&, std::size_t width);
std::string print_json(const BenchReport&);

}  // namespace deplo::apps
