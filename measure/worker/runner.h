// The boundary between decisions (search, store) and generated code: one device that measures candidates.
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
#include "measure/protocol/problem.h"
#include "measure/protocol/sampling.h"
#include "rules/cost/ceilings.h"

namespace deplo::measure::worker {

/// The result of measuring a candidate, which is stored.
struct Reply {
  Result<Timing> timing;
  Resources resources = {};
  double build_ms = 0;
};

/// The kernel of the candidates, and how they are measured. The inputs are drawn from `seed`.
struct Task {
  ir::Program loop;
  std::uint64_t seed = 0;
  Protocol protocol;
  rules::Ceilings known = {};  // the device's ceilings from earlier runs
  InputFiles files = {};
  bool memory_rates = false;          // measure them for small kernels, too: the analytic model's time needs them
  bool libraries = false;             // libraries that implement the kernel take part in confirmations
  Expectation expected = {};          // what the outputs of a user's own kernel are compared with
  bool energy = false;                // also measure the energy of each candidate that gets a time
  std::optional<TileCall> tile = {};  // with `libraries`: the launch of the tile program that became this kernel
};

/// A library's function that computes the task's kernel. The fields are those of measure::Baseline.
struct LibraryName {
  std::string library, version, precision;
  std::int64_t threads = 0;
};

/// The libraries for a task's kernel.
struct Libraries {
  std::vector<LibraryName> found;
  std::string none;  // Baselines::none: why a library is missing; "" if the task does not ask for libraries
};

/// Thrown if no candidate of a kernel can be measured because of the kernel, not the device. Other kernels can still be
/// measured.
class Untunable : public Error {
 public:
  using Error::Error;
  explicit Untunable(const Error& error) : Error(error) {}
};

/// Measures candidates of one kernel at a time on one device: in this process (local_runner.h), or in a child process
/// that a candidate may kill (worker_runner.h). Not thread-safe.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Dialect dialect() const = 0;
  /// Returns in one line why the energy of a launch cannot be measured on the device; "" if it can.
  virtual std::string why_no_energy() = 0;
  /// Sets the task of all later candidates. open(), or the first use after it, throws Untunable if the kernel's inputs
  /// do not fit into memory, if it has no finite result, or if the task needs an energy counter that the device lacks.
  virtual void open(const Task&) = 0;
  /// Returns the highest ceilings of the device that this Runner has measured, as of the last open().
  virtual rules::Ceilings ceilings() const = 0;
  /// Returns the best number of candidates for a call of prepare(); 1: nothing is built ahead.
  virtual std::size_t batch() const = 0;
  /// Announces the next candidates. If the backend can, it builds them in the background.
  virtual void prepare(std::span<const KernelCode>) = 0;
  /// Calls measure::screen() with the protocol task.protocol.with_effort(effort). Any fault of a candidate becomes its
  /// failure. Throws Error only if the device cannot be used any more.
  virtual Reply screen(const KernelCode&, double best_us, double effort) = 0;
  /// Returns the libraries of the task; none if the task does not ask for them.
  virtual const Libraries& libraries() const = 0;
  /// Calls measure::confirm(). Returns a reply for each candidate, then one for each library.
  virtual std::vector<Reply> confirm(std::span<const KernelCode>, const ConfirmOptions&) = 0;
};

/// Returns true if the process cannot be trusted after this failure: CUDA needs a new process after an illegal access,
/// and a write outside of a buffer may have damaged this process's own memory.
bool spoils_process(Status);

}  // namespace deplo::measure::worker
