// Times candidates, as docs/measurement.md describes.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/outcome.h"
#include "measure/device.h"
#include "measure/protocol/problem.h"
#include "measure/protocol/protocol.h"

namespace deplo::measure {

/// A launch's grid.
struct Grid {
  std::int64_t blocks = 1;
  std::int64_t wave = 1;  // number of blocks that the device runs at a time, rounded up to whole clusters
  bool adds = false;      // blocks add to outputs, so outputs can be checked only after the whole grid has run
};
Grid grid_of(const ir::KernelSource&, const DeviceInfo&);

struct Timing {
  double median_us = 0;               // time of one full run
  double fidelity = 0;                // the share of the grid that ran, 0 if nothing ran; times are divided by it
  std::vector<double> samples;        // µs per full run, in the order taken
  std::vector<double> rejected = {};  // the same for samples whose clock was too low
  int batch = 1;                      // launches per sample
  int sets = 1;                       // sets of operands over which the launches rotate
  double warm_us = 0;                 // in a confirmation: the median with only one set; 0: not measured
  double clock_mhz = 0;               // the samples' median; 0: not known
  bool stopped = false;               // stopped early as too slow: a time for models, never for a leader board
  double energy_mj = 0;               // energy of one full run; 0: not measured
  double first_launch_ms = 0;         // host time of the first launches beyond device time; part of the build time
};

/// Warms up, checks the output, times one candidate and checks again. `best_us`: the best known time (infinity: none).
/// `energy`: the device's counter if the energy is measured, too; else null. Fails with the failure of a launch or a
/// check, slow (stopped before it could be checked), nondeterministic, noop, implausible or no_energy.
Result<Timing> screen(Executable&, const Grid&, Problem&, const Protocol&, double best_us,
                      EnergyCounter* energy = nullptr);

/// Returns the indices of the screened candidates to confirm, fastest first: the fastest Protocol::finalists, and up to
/// max_finalists that are within finalist_margin of the fastest. None is slower than twice the fastest, or than
/// finalist_margin times the fastest if that is more.
std::vector<std::size_t> finalists(std::span<const double> us, const Protocol&);

struct Contender {
  Executable* executable = nullptr;
  Grid grid;
  bool tf32 = false;  // a library in reduced precision: checked with tf32_tolerance, and not against the fp32 ceiling
};

struct ConfirmOptions {
  std::uint64_t seed = 0;                                    // determines the order within each round
  double seconds = std::numeric_limits<double>::infinity();  // no round starts later than this; the first always runs
  std::function<bool()> cancelled;                           // polled before each sample; may be empty
  EnergyCounter* energy = nullptr;                           // as in screen()
};

/// Times the contenders against each other on full runs. Each round takes one sample of each contender in shuffled
/// order, so that a drift of the clock affects all equally. The rounds end when the fastest is known, or when all
/// rounds are used. Each output is checked completely before the first and after the last sample. Energies are measured
/// after the rounds, which end earlier to leave time for them. Returns one result per contender, in their order. Sample
/// i of all contenders is from the same round. If the confirmation is cancelled, there are fewer samples; a contender
/// without samples has the status cancelled.
std::vector<Result<Timing>> confirm(std::span<const Contender>, Problem&, const Protocol&, const ConfirmOptions&);

/// Times executables with a grid of one block. The caller checks their outputs. In each of Protocol::rounds rounds,
/// takes a sample of confirm_sample_us of each executable on cold operands; the warm samples follow. Returns one result
/// per executable, which fails with the failure of a launch, or noop.
std::vector<Result<Timing>> time_in_turns(std::span<Executable* const>, OperandSets&, Device&, const Protocol&);

/// Returns the number of launches in a sample of about `sample_us`, if one launch takes `launch_us`. On a GPU it is a
/// multiple of the number of operand sets, so that each sample begins with the same set and replays the same graph. It
/// is not, if one launch on each set takes longer than Protocol::full_run_ms.
int batch_size(double sample_us, double launch_us, const Protocol&, const OperandSets&);

}  // namespace deplo::measure
