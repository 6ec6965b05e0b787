// How a candidate is timed. The reasons for the numbers: docs/measurement.md.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "measure/device.h"
#include "measure/problem.h"

namespace deplo::measure {

/// A sample is the mean of a batch of B launches, B = clamp(W / t, 1, max_batch), W = sample_us or confirm_sample_us.
struct Protocol {
  int samples = 5;                  // of screening, at most; the value is their median
  double sample_us = 200;           // W of screening: far above the clock's resolution
  double confirm_sample_us = 1000;  // W of confirmation
  int max_batch = 64;
  double early_stop = 1.10;  // screening ends when the fastest sample is slower than this times the best known
  double full_run_ms = 100;  // where one full run takes longer, screening runs a prefix of the grid
  double slow = 3;           // hopeless: slower than this times the best known on the first blocks …
  double slow_us = 200;      // … and slower than this: no more than the first blocks are run
  int rounds = 15;           // of confirmation
  /// One line that names the rules and all numbers; stored with every trial. Times of different texts are not compared.
  std::string text() const;
  bool operator==(const Protocol&) const = default;
};

/// The launch: how many blocks, and how many of them the device has in flight at a time (at most).
struct Grid {
  std::int64_t blocks = 1;
  std::int64_t wave = 1;
  bool adds = false;  // blocks add to outputs: after a prefix of the grid no element needs be right
};
Grid grid_of(const ir::KernelSource&, const DeviceInfo&);

struct Timing {
  double median_us = 0;         // of one full run
  double fidelity = 1;          // part of the grid that ran; times are scaled by its inverse
  std::vector<double> samples;  // µs per full run, in the order taken
  int batch = 1;                // launches per sample
  double first_launch_ms = 0;   // what the first launches took beyond the device's time: add it to the build time
};

/// Warms up, checks the output, and times one candidate. `best_us` is the best known time (infinity: none).
/// Fails with launch_error, wrong_result or implausible.
Result<Timing> screen(Executable&, const Grid&, Problem&, const Protocol&, double best_us);

struct Contender {
  Executable* executable = nullptr;
  Grid grid;
};
struct ConfirmOptions {
  std::uint64_t seed = 0;                                    // of the order within each round
  double seconds = std::numeric_limits<double>::infinity();  // no round starts later than this; the first always runs
  std::function<bool()> cancelled;                           // polled before each sample; may be empty
};
/// Times the contenders against each other on full runs: rounds of one sample each in shuffled order, so that a drift
/// of the clock meets all alike. Each output is checked in full before the first and after the last sample. One result
/// each, in the contenders' order; a cancelled confirmation has fewer samples, without any the status is timeout.
std::vector<Result<Timing>> confirm(std::span<const Contender>, Problem&, const Protocol&, const ConfirmOptions&);

/// The parts of both. Mean device time of `batch` launches of the first `blocks` blocks: each waits for the one before,
/// and only the time on the device counts. Fails with launch_error or implausible.
Result<double> sample(Executable&, Arrays&, std::int64_t blocks, int batch);
int batch_size(double sample_us, double launch_us, const Protocol&);
double median(std::vector<double> values);  // of at least one

}  // namespace deplo::measure
