// The boundary between decisions (search, store) and foreign code: one device that measures candidates.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/outcome.h"
#include "measure/baselines/tile_call.h"
#include "measure/check/inputs.h"
#include "measure/device.h"
#include "measure/protocol/sampling.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure::worker {

/// What is stored of a candidate.
struct Reply {
  Result<Timing> timing;
  Resources resources = {};
  double build_ms = 0;
};

/// What the candidates are of. The inputs come from the seed.
struct Task {
  ir::Program loop;
  std::uint64_t seed = 0;
  Protocol protocol;
  rules::Ceilings known = {};  // of the device, from earlier runs
  InputFiles files = {};
  bool libraries = false;             // those that have the kernel take part in confirmations
  std::optional<TileCall> tile = {};  // with `libraries`: the launch of a tile program that the kernel is
};

/// A library's function that computes the task's kernel, as measure::Baseline says it.
struct LibraryName {
  std::string library, version, precision;
  std::int64_t threads = 0;
};

/// What a task found.
struct Libraries {
  std::vector<LibraryName> found;
  std::string none;  // as of measure::Baselines, where they were asked for
};

/// Thrown where a kernel, not the device, is why nothing of it can be measured; others can.
class Untunable : public Error {
 public:
  using Error::Error;
  explicit Untunable(const Error& error) : Error(error) {}
};

/// Measures candidates of one kernel at a time on one device: in this process (local_runner.h) or in a child that may
/// die of them (worker_runner.h). Not thread-safe.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Dialect dialect() const = 0;
  /// The candidates from now on are of this kernel. It, or the first use after it, throws Untunable when the
  /// kernel's inputs do not fit or it has no finite result.
  virtual void open(const Task&) = 0;
  /// The best that the device was measured to do at best since this bench was made, as of the last open().
  virtual rules::Ceilings ceilings() const = 0;
  /// How many candidates prepare() is best given at a time; 1: nothing is built ahead.
  virtual std::size_t batch() const = 0;
  /// These will be asked for soon: a backend that can builds them in the background.
  virtual void prepare(std::span<const KernelCode>) = 0;
  /// As measure::screen, by the task's protocol with_effort(). Whatever a candidate does is its own failure; Error only
  /// when the device is of no more use.
  virtual Reply screen(const KernelCode&, double best_us, double effort) = 0;
  /// The task's; none where it does not ask for them.
  virtual const Libraries& libraries() const = 0;
  /// As measure::confirm. A reply for each candidate, then one for each of the libraries.
  virtual std::vector<Reply> confirm(std::span<const KernelCode>, const ConfirmOptions&) = 0;
};

/// After such a failure nothing that the process says of the device can be trusted: CUDA asks for a new process after
/// an illegal access, and what was written beside a buffer may have been ours.
bool spoils_process(Status);

}  // namespace deplo::measure::worker
