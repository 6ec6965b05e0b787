// What a backend offers: build a kernel, hold its arrays, launch it and time it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/outcome.h"
#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/numbers.h"
#include "ir/program.h"
#include "measure/device_info.h"

namespace deplo::measure {

/// A candidate ready to build: Kernel IR and the source emitted from it.
struct KernelCode {
  ir::Program kernel;
  ir::KernelSource source;
};

/// What the compiler says of a built kernel; -1: not known.
struct Resources {
  std::int64_t registers = -1, spill_bytes = -1, stack_bytes = -1;  // per thread
  std::int64_t static_shared_bytes = -1, dynamic_shared_bytes = -1;
  double occupancy = -1;      // part of a unit's threads that can be resident
  std::string limiter;        // of it: "registers", "shared", "threads", "blocks" or ""
  std::string binary_digest;  // of the machine code; "" where the backend shows none
  /// The compiler's messages about lost performance, such as "C7510: wgmma.mma_async instructions are serialized …",
  /// each once, joined by "; ".
  std::string compiler_notes;
};

/// A batch of launches one after the other on the device.
struct Sample {
  double us = 0;         // per launch, the device's clock: from the first start to the last end
  double clock_mhz = 0;  // the device's frequency meanwhile; 0: not known
};

/// The buffers of one kernel on the device, in the program's order. Numbers that another type holds are converted:
/// an integer is rounded, a bool is whether it is not 0 (measure/check/elements.h).
class Arrays {
 public:
  virtual ~Arrays() = default;
  virtual void write(std::size_t buffer, const ir::Numbers& values) = 0;
  virtual ir::Numbers read(std::size_t buffer) = 0;
  /// The elements as the device has them, little endian; of devices that run source.
  virtual void write_bytes(std::size_t /*buffer*/, std::span<const std::uint8_t> /*bytes*/) { CHECK(false); }
  virtual std::vector<std::uint8_t> read_bytes(std::size_t /*buffer*/) { CHECK(false); }
  /// Every byte of the buffer becomes 0xFF (a NaN in floats, -1 in integers, 255 in bool).
  virtual void poison(std::size_t buffer) = 0;
  /// Arrays in the memory of some of these, each named once: number i is buffer `buffers[i]` seen as `as[i]`, which
  /// needs no more bytes. These must outlive the view.
  virtual std::unique_ptr<Arrays> view(std::span<const std::size_t> buffers, const std::vector<ir::Buffer>& as) = 0;
  /// Which buffer was written beside, and where, by its red zones (measure/check/red_zone.h); nullopt: none.
  virtual std::optional<std::string> overrun() = 0;
  /// The first byte of the buffer where the device's memory is the host's, so that a library of the host can work on it
  /// while nothing is enqueued; else, and of views, null.
  virtual void* host_memory(std::size_t /*buffer*/) { return nullptr; }
};

class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs the first `blocks` blocks of the grid and waits. Device time in microseconds, from the device's own clock.
  /// Where the kernel adds to outputs (KernelSource::zeroed) they are filled with 0 before, whole, by a launch of its
  /// own, whose time counts in proportion to the blocks that run.
  virtual Result<double> launch(Arrays&, std::int64_t blocks) = 0;
  /// launch() without a time: a device with a clock is not asked for it. Returns what failed.
  virtual std::optional<Failure> execute(Arrays&, std::int64_t blocks);
  /// `batch` such launches with one wait at the end: launch i works on *sets[i % sets.size()] (more than one set: cold
  /// caches, by rotation). Here each is a launch() that is waited for, and their times add up.
  virtual Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch);
  virtual const Resources& resources() const = 0;
};

/// A kernel in a chain of them: its arrays are these buffers of the chain's, as Arrays::view() takes them.
struct ChainLink {
  Executable* executable = nullptr;
  std::int64_t blocks = 1;
  std::vector<std::size_t> buffers = {};
  std::vector<ir::Buffer> as = {};
};

/// One device; build may be called from any thread, launches one at a time.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Dialect dialect() const = 0;
  virtual std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) = 0;
  virtual Result<std::unique_ptr<Executable>> build(const KernelCode&) = 0;
  /// Built kernels one after the other, as a grid of one block; they must outlive it. CUDA replays them in one graph,
  /// elsewhere their times add up.
  virtual std::unique_ptr<Executable> chain(std::vector<ChainLink> links);
  virtual void pause(double milliseconds);  // leaves the device alone, so that it cools down
};

/// `name`: "cuda", "cuda:N", "opencl" (first device, CPU devices last), "opencl:N", or "interpreter". Throws
/// Error(environment) in one line that says what is missing and how to get it.
std::unique_ptr<Device> open_device(std::string_view name);
/// Every usable device as `open_device` names it; never throws for a missing driver.
std::vector<std::pair<std::string, DeviceInfo>> list_devices();
/// What open_device's would say of itself, without making a context there.
DeviceInfo find_device(std::string_view name);
/// The target (limits and capabilities) for a device: the YAML target `sm_XX` (measure/cuda/cuda.h), `opencl-cpu` or
/// `opencl-gpu` with the limits that the device reports.
/// Throws Error where the limits are no device's.
Target target_of(const DeviceInfo&);

}  // namespace deplo::measure
