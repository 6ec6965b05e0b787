// `deplo bench`: the kernels of a graph, each beside the libraries that have it, in alternation.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/device_options.h"
#include "core/progress.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"
#include "engine/source/load.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/protocol.h"

namespace deplo::apps {

struct BenchOptions : DeviceOptions {  // `tuned` without a value: `store`, or the user's own without
  engine::KernelSelection selection;
  std::optional<std::string> config;          // in place of it: the kernels of an experiment …
  engine::SourceOptions source_options = {};  // … with floats as they say
  double seconds = 10;                        // of rounds for each kernel; the first round always runs
  std::optional<std::string> store;           // where results are recorded
  bool in_process = false;                    // what is timed runs in this process: for a debugger
  std::vector<std::string> ab;  // two trails in place of what is known: the first is ours, the second beside it
};

/// A contender's times; `failure` in place of them.
struct BenchTime {
  std::string failure;  // "wrong_result: …", "" where it was timed
  double median_us = 0, warm_us = 0;
  int batch = 1, sets = 1;
  std::vector<double> samples;  // µs, number i of the same round as the others' number i
};

/// Of a baseline that is this program's own, by another schedule.
inline constexpr const char* own_precision = "ours";

struct BenchBaseline {
  std::string library, version, precision;
  std::int64_t threads = 0;
  BenchTime time;
  double ratio = 0;                 // the median of its time over ours, round by round: above 1 ours is faster
  measure::Interval interval = {};  // 95 %, of that median
  std::string date = {};  // "": timed beside ours; else when, of the store, and `ratio` is that of the medians
};

struct BenchKernel {
  std::string name;
  std::size_t first =
      0;  // the kernel of the list that it is equal to, and shares its times; itself where it is the first
  engine::Origin origin = engine::Origin::heuristic;  // of the schedule, and as of Schedule the next three
  double measured_us = 0;
  std::string from, note;
  std::string trail;
  BenchTime ours;
  double model_us = 0;  // the analytic model's, under the ceilings that the device was measured to have; 0: none
  std::vector<BenchBaseline> baselines;
  std::string no_baseline;  // why there is none, or not one that there could be
  bool allow_tf32 = false;  // of the kernel
};

struct BenchReport {
  std::string device, target, store, tuned, protocol;
  std::size_t asked = 0;             // kernels
  std::vector<BenchKernel> kernels;  // fewer while it runs, and after an interrupt
  bool right() const;                // every kernel of ours was, and has a time
};

/// `on_kernel` is called with all that is known at the start and behind each kernel. An interrupt (core/interrupt.h)
/// ends it early, without the kernel that it meets. A kernel that costs its process loses its own row. Throws Error: of
/// the user where the source or the options are wrong; of the environment where there is no such device.
BenchReport bench_kernels(const BenchOptions&, Progress&, const std::function<void(const BenchReport&)>& on_kernel);

/// "45.2 µs (heuristic); oneDNN 1.135x": the time of ours, and how often it goes into that of each baseline.
std::string describe(const BenchKernel&);

/// For a window of that many columns; 0: no limit.
std::string print_table(const BenchReport&, std::size_t width);
std::string print_json(const BenchReport&);

}  // namespace deplo::apps
