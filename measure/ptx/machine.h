// The PTX machine: executes a grid of a kernel, in an order that a seed draws, and checks each access.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "measure/ptx/block.h"
#include "measure/ptx/deferred_work.h"
#include "measure/ptx/finding.h"
#include "measure/ptx/memory.h"
#include "measure/ptx/program.h"
#include "measure/ptx/races/global_order.h"
#include "measure/ptx/tensor_map.h"

namespace deplo::measure::ptx {

class Floats;

/// When copies and products that nothing waits for yet are done: as they are issued, as late as a wait allows, or in
/// between, as the seed draws.
enum class Timing { early, late, random };

struct LaunchOptions {
  std::int64_t blocks = 1, threads = 32;
  /// How blocks and threads are numbered: x and y of the grid and of a block; 0: all in x.
  std::int64_t grid_x = 0, grid_y = 1, block_x = 0, block_y = 1;
  std::int64_t dynamic_shared_bytes = 0;
  std::uint64_t seed = 0;                    // of the interleaving, and of the Timing
  std::int64_t most_resident_blocks = 1024;  // blocks beyond these begin when one has ended
  std::byte fill{0xcd};                      // of shared memory before it is written
  std::int64_t most_instructions = 0;        // of warps, without progress, after which it is a hang; 0: 100 million
  /// Matrix instructions add as tensor cores do (tensor_sum.h). Otherwise they add exactly and round once.
  bool truncates = false;
  Floats* floats = nullptr;  // of a program of Values::exact
};

struct LaunchResult {
  std::int64_t instructions = 0;  // of threads
  std::string printed;            // by vprintf
};

/// One launch. Not thread-safe. Half of its methods are what instructions need of the launch; the others are the turns
/// of its warps, which are one loop.
class Machine {
 public:
  /// `parameters`: the bytes of the kernel's parameters, as the driver passes them; of a tensor map 128 bytes, of
  /// which the first 8 are a number in `maps`. All must outlive the machine.
  Machine(const Program&, GlobalMemory&, const std::vector<std::byte>& parameters, const std::vector<TensorMap>& maps,
          const LaunchOptions&, GlobalOrder::Tracked = {});
  /// Throws Finding: the place of the instruction in PTX and in the CUDA source, the block, warp and lane, and what is
  /// wrong. Memory is then as far as the launch got.
  LaunchResult run();

  // What instructions use.
  const Program& program() const { return program_; }
  GlobalMemory& memory() { return memory_; }
  GlobalOrder& order() { return order_; }
  const std::vector<std::byte>& parameters() const { return parameters_; }
  const TensorMap& map_of(std::uint64_t parameter_address) const;
  std::uint64_t shared_bytes() const { return shared_bytes_; }
  std::int64_t threads() const { return options_.threads; }
  std::int64_t warps() const { return (options_.threads + warp_lanes - 1) / warp_lanes; }  // of a block
  const LaunchOptions& options() const { return options_; }
  Rng& rng() { return rng_; }
  Timing timing() const { return timing_; }
  /// Whether waits end without what they wait for, as try_wait may after some time.
  bool waits_time_out() const { return waits_time_out_; }
  /// Whether a wait ends early by chance. Not where nothing has happened for a while: it would look like a hang.
  bool draw_early_return() { return is_lively_ && rng_.below(16) == 0; }
  /// Does it now or later. `at`: the number of the instruction that issues it, for findings.
  void defer(const Warp& warp, std::uint32_t at, std::function<void()> work);
  void note_progress() {
    last_progress_ = executed_;
    ++progress_;
    ++events_;
  }
  /// Something happened that may end a wait, but need not be progress.
  void note_event() { ++events_; }
  std::uint64_t events() const { return events_; }
  /// A read of shared memory that nothing wrote. It is no fault where nothing depends on it: compilers read more than
  /// they use. Kernel finds out by a second launch with another `fill`.
  void note_uninitialized(const Finding& finding, const Warp& warp);
  const std::optional<Finding>& uninitialized() const { return uninitialized_; }
  void print(const std::string& text) { printed_ += text; }

 private:
  bool admit();
  bool sweep();
  bool run_deferred();
  void retire();
  void step_idle();
  [[noreturn]] void report_deadlock() const;
  std::string waiting_warps() const;

  const Program& program_;
  GlobalMemory& memory_;
  GlobalOrder order_;
  const std::vector<std::byte>& parameters_;
  const std::vector<TensorMap>& maps_;
  LaunchOptions options_;
  std::uint64_t shared_bytes_;
  std::vector<std::vector<std::uint8_t>> module_memory_;
  Rng rng_;
  Timing timing_;
  std::int64_t quantum_;
  std::vector<std::unique_ptr<Cluster>> resident_;
  std::int64_t begun_ = 0;  // clusters
  DeferredWork deferred_;
  bool waits_time_out_ = false, is_lively_ = true;
  int idle_rounds_ = 0;
  std::uint64_t progress_ = 0, idle_progress_ = 0, swept_progress_ = 0, events_ = 0;
  std::int64_t executed_ = 0, last_progress_ = 0, last_admission_ = 0, thread_instructions_ = 0;
  std::string printed_;
  std::optional<Finding> uninitialized_;
};

}  // namespace deplo::measure::ptx
