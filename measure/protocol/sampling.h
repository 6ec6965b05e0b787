// How a candidate is timed: docs/measurement.md.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "measure/check/problem.h"
#include "measure/device.h"
#include "measure/protocol/protocol.h"

namespace deplo::measure {

/// The launch: how many blocks, and how many of them the device has in flight at a time (at most).
struct Grid {
  std::int64_t blocks = 1;
  std::int64_t wave = 1;  // whole clusters
  bool adds = false;      // blocks add to outputs: after a prefix of the grid no element needs be right
};
Grid grid_of(const ir::KernelSource&, const DeviceInfo&);

struct Timing {
  double median_us = 0;               // of one full run
  double fidelity = 0;                // part of the grid that ran, 0 where nothing did; times are scaled by its inverse
  std::vector<double> samples;        // µs per full run, in the order taken
  std::vector<double> rejected = {};  // the same, taken at too low a clock
  int batch = 1;                      // launches per sample
  int sets = 1;                       // of operands that the launches rotate over
  double warm_us = 0;                 // of a confirmation: the median with one set alone; 0: not measured
  double clock_mhz = 0;               // the median; 0: not known
  bool stopped = false;               // as too slow: a label for models, never for a leader board
  double first_launch_ms = 0;         // what the first launches took beyond the device's time: add it to the build time
};

/// Warms up, checks the output, times one candidate and checks again. `best_us` is the best known time (infinity:
/// none). Fails with what a launch or a check says, slow (given up on before it could be checked), nondeterministic,
/// noop or implausible.
Result<Timing> screen(Executable&, const Grid&, Problem&, const Protocol&, double best_us);

/// Which of the screened are confirmed, by their times: the best, and all that are about as good. Numbers of the
/// entries, fastest first.
std::vector<std::size_t> finalists(std::span<const double> us, const Protocol&);

struct Contender {
  Executable* executable = nullptr;
  Grid grid;
  bool tf32 = false;  // a library's, in reduced precision: checked by tf32_tolerance, and bound by no ceiling of fp32
};

struct ConfirmOptions {
  std::uint64_t seed = 0;                                    // of the order within each round
  double seconds = std::numeric_limits<double>::infinity();  // no round starts later than this; the first always runs
  std::function<bool()> cancelled;                           // polled before each sample; may be empty
};

/// Times the contenders against each other on full runs: rounds of one sample each in shuffled order, so that a drift
/// of the clock meets all alike, until the first is known or the rounds are used up. Each output is checked in full
/// before the first and after the last sample. One result each, in the contenders' order; number i of the samples is of
/// the same round in all. A cancelled confirmation has fewer samples, without any the status is cancelled.
std::vector<Result<Timing>> confirm(std::span<const Contender>, Problem&, const Protocol&, const ConfirmOptions&);

/// Executables of a grid of one block, whose outputs the caller checks: in each of `rounds` rounds a sample of
/// confirm_sample_us of each on cold operands, then the warm ones. One result each; it fails with what a launch says,
/// or noop.
std::vector<Result<Timing>> time_in_turns(std::span<Executable* const>, OperandSets&, Device&, const Protocol&);

/// Launches in a sample of about `sample_us` where one takes `launch_us`. On a GPU a multiple of the operand sets, if
/// these take no longer than a full run may: each sample then begins with the same set, and is a replay of one graph.
int batch_size(double sample_us, double launch_us, const Protocol&, const OperandSets&);

}  // namespace deplo::measure
