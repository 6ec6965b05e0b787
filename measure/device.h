// The interface of a backend: builds kernels, holds their arrays, launches and times them.
#pragma once
#include <cstdint>
#include <functional>
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
#include "ir/program.h"
#include "ir/types/numbers.h"
#include "measure/device_info.h"
#include "measure/energy.h"
#include "measure/launch.h"

namespace deplo::measure {

/// A candidate that is ready to build: Kernel IR and the source emitted from it. For a user's own kernel, `launch` is
/// set, and `kernel` has buffers but no statements.
struct KernelCode {
  ir::Program kernel;
  ir::KernelSource source;
  std::optional<Launch> launch = {};  // replaces the grid and options of `source`, whose grid is one block
};

/// The compiler's information about a built kernel. -1: not known.
struct Resources {
  std::int64_t registers = -1, spill_bytes = -1, stack_bytes = -1;  // per thread
  std::int64_t static_shared_bytes = -1, dynamic_shared_bytes = -1;
  std::int64_t code_bytes = -1;  // size of the machine code; on OpenCL GPUs, of the driver's binary
  double occupancy = -1;         // the fraction of a unit's threads that can be resident
  std::string limiter;           // what limits the occupancy: "registers", "shared", "threads", "blocks" or ""
  std::string binary_digest;     // digest of the machine code; "" if the backend does not expose it
  /// The compiler's messages about lost performance, such as "C7510: wgmma.mma_async instructions are serialized …",
  /// without duplicates, joined by "; ".
  std::string compiler_notes;
};

/// The time of a batch of launches that ran one after the other on the device.
struct Sample {
  double us = 0;         // per launch, by the device's clock: from the first start to the last end
  double clock_mhz = 0;  // the device's frequency during the sample; 0: not known
};

/// The place of an array: a buffer, and a byte offset in it.
struct Place {
  std::size_t buffer = 0;
  std::int64_t offset = 0;
  bool operator==(const Place&) const = default;
};

/// The buffers of one kernel on the device, in the program's order. Numbers are converted to the buffer's type: they
/// are rounded for integers and compared with 0 for bool (measure/check/elements.h).
class Arrays {
 public:
  virtual ~Arrays() = default;
  virtual void write(std::size_t buffer, const ir::Numbers& values) = 0;
  virtual ir::Numbers read(std::size_t buffer) = 0;
  /// Write and read the elements' bytes as the device stores them, little endian.
  virtual void write_bytes(std::size_t buffer, std::span<const std::uint8_t> bytes) = 0;
  virtual std::vector<std::uint8_t> read_bytes(std::size_t buffer) = 0;
  /// Sets every byte of the buffer to 0xFF (a NaN in floats, -1 in integers, 255 in bool).
  virtual void poison(std::size_t buffer) = 0;
  /// Remembers the buffer's contents for kernels that start from them (KernelSource::restored). Not for views.
  virtual void save(std::size_t /*buffer*/) { CHECK(false); }
  /// Returns arrays that share the memory of some of these buffers. Array i of the view begins at `places[i]`, has the
  /// type and shape of `as[i]`, and must end within the buffer. No two arrays may begin at the same place. These Arrays
  /// must outlive the view.
  virtual std::unique_ptr<Arrays> view(std::span<const Place> places, const std::vector<ir::Buffer>& as) = 0;
  /// Checks the red zones (measure/check/red_zone.h). Returns a message that names the buffer and the place of a write
  /// outside its bounds; nullopt if there was none.
  virtual std::optional<std::string> overrun() = 0;
  /// Returns the buffer's address if the device's memory is host memory, else null; null for views, too. A host library
  /// may use the memory while nothing is enqueued.
  virtual void* host_memory(std::size_t /*buffer*/) { return nullptr; }
};

class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs the first `blocks` blocks of the grid and waits. Returns microseconds by the device's clock. If the kernel
  /// adds to outputs (KernelSource::zeroed), a separate launch first fills these whole outputs with 0; its time counts
  /// in proportion to the blocks that run. The buffers of KernelSource::restored first get their saved contents back,
  /// which is not timed.
  virtual Result<double> launch(Arrays&, std::int64_t blocks) = 0;
  /// Like launch(), but reads no clock. Returns the failure, if there is one.
  virtual std::optional<Failure> execute(Arrays&, std::int64_t blocks);
  /// Runs `batch` launches with one wait at the end. Launch i works on *sets[i % sets.size()]. With more than one set
  /// the operands are cold, because the sets rotate. By default each launch is a launch() with its own wait, and the
  /// sample has their mean time.
  virtual Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch);
  /// Runs the launches of a sample() without reading a clock, to measure their energy. The pauses between calls are as
  /// short as the backend can make them. `meanwhile` is called once while the launches run; by default, before them.
  virtual std::optional<Failure> repeat(std::span<Arrays* const> sets, std::int64_t blocks, int batch,
                                        const std::function<void()>& meanwhile);
  /// By default nothing is known.
  virtual const Resources& resources() const;
};

/// A kernel in a chain. Its arrays are Arrays::view(places, as) of the chain's arrays.
struct ChainLink {
  Executable* executable = nullptr;
  std::int64_t blocks = 1;
  std::vector<Place> places = {};
  std::vector<ir::Buffer> as = {};
};

/// Thrown if the device's compiler cannot write its files, as on a full disk. No candidate can be built then, so this
/// is no candidate's failure.
class CannotBuild : public Error {
 public:
  explicit CannotBuild(const std::string& message) : Error(message, Exit::environment) {}
};

/// One device. build() may be called from any thread; only one launch may run at a time.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Dialect dialect() const = 0;
  virtual std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) = 0;
  /// Throws CannotBuild.
  virtual Result<std::unique_ptr<Executable>> build(const KernelCode&) = 0;
  /// Returns an executable with a grid of one block that runs built kernels one after the other. The kernels must
  /// outlive it. CUDA replays them in one graph; other devices add their times.
  virtual std::unique_ptr<Executable> chain(std::vector<ChainLink> links);
  virtual void pause(double milliseconds);  // leaves the device idle, so that it cools down
  /// Returns the device's energy counter, which the first call opens. Throws Error(environment), which says in one line
  /// what is missing and how to get it. By default a device has no counter.
  virtual EnergyCounter& energy();
};

/// Opens the device `name`: "cuda", "cuda:N", "opencl" (the first device; CPU devices come last), "opencl:N",
/// "interpreter", or "ptx:sm_N". Throws Error(environment), which says in one line what is missing and how to get it.
std::unique_ptr<Device> open_device(std::string_view name);
/// Returns every usable device, with the name that open_device() takes. A missing driver is not an error.
std::vector<std::pair<std::string, DeviceInfo>> list_devices();
/// Returns the info() of the device that open_device() would open, without creating a context on it.
DeviceInfo find_device(std::string_view name);
/// Returns the target (limits and capabilities) for a device: the YAML target `sm_XX` (measure/cuda/cuda.h),
/// `opencl-cpu` or `opencl-gpu`, with the limits that the device reports. Throws Error if no device can have these
/// limits.
Target target_of(const DeviceInfo&);

}  // namespace deplo::measure
