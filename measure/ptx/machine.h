// The PTX machine: executes the grid of a kernel in an order drawn from a seed, and checks each access to memory.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "measure/ptx/block.h"
#include "measure/ptx/finding.h"
#include "measure/ptx/memory.h"
#include "measure/ptx/program.h"
#include "measure/ptx/races/global_order.h"
#include "measure/ptx/tensor_map.h"

namespace deplo::measure::ptx {

class Floats;

/// When asynchronous copies and products are done: as soon as they are issued, as late as the wait allows, or at random
/// times in between, drawn from the seed.
enum class Timing { early, late, random };

struct LaunchOptions {
  std::int64_t blocks = 1, threads = 32;
  /// Dimensions of the grid and of a block, which number the blocks and threads. If the x extent is 0, all are along x.
  std::int64_t grid_x = 0, grid_y = 1, block_x = 0, block_y = 1;
  std::int64_t dynamic_shared_bytes = 0;
  std::uint64_t seed = 0;  // determines the interleaving and the Timing
  std::byte fill{0xcd};    // initial bytes of shared memory
  // Number of warp instructions without progress after which the launch counts as a hang.
  std::int64_t max_instructions = 100'000'000;
  /// Matrix instructions add as tensor cores do (tensor_sum.h). Otherwise they add in double and round once.
  bool truncates = false;
  Floats* floats = nullptr;  // for a program decoded with Values::exact
};

struct LaunchResult {
  std::int64_t instructions = 0;  // executed, summed over all threads
  std::string printed;            // output of vprintf
};

/// One launch. Not thread-safe. Half of the methods are what the instructions need from the launch; the other half
/// belongs to the loop that gives the warps their turns.
class Machine {
 public:
  /// `parameters`: the bytes of the kernel's parameters, as the driver passes them. A tensor map takes 128 bytes; the
  /// first 8 of them are its index in `maps`. All arguments must outlive the machine.
  Machine(const Program&, GlobalMemory&, const std::vector<std::byte>& parameters, const std::vector<TensorMap>& maps,
          const LaunchOptions&, GlobalOrder::Tracked = {});
  /// Runs the launch to its end. Throws Finding with the place of the instruction in the PTX and in the CUDA source,
  /// the block, warp and lane, what is wrong, and what was printed. Memory then has the contents of that moment.
  LaunchResult run();

  // What the instructions use.
  const Program& program() const { return program_; }
  GlobalMemory& memory() { return memory_; }
  GlobalOrder& order() { return order_; }
  const std::vector<std::byte>& parameters() const { return parameters_; }
  const TensorMap& map_of(std::uint64_t parameter_address) const;
  std::uint64_t shared_bytes() const { return shared_bytes_; }
  std::int64_t threads() const { return options_.threads; }
  std::int64_t warps() const { return (options_.threads + warp_lanes - 1) / warp_lanes; }  // per block
  const LaunchOptions& options() const { return options_; }
  Rng& rng() { return rng_; }
  /// Draws, as the Timing says, whether work is done as soon as it is issued.
  bool draw_early_work() { return timing_ == Timing::early || (timing_ == Timing::random && rng_.below(2) == 0); }
  /// True if waits end although what they wait for has not happened, as try_wait may after some time.
  bool waits_time_out() const { return waits_time_out_; }
  /// Draws whether a wait ends early. Always false if nothing has happened for a while, because that would look like a
  /// hang.
  bool draw_early_return() { return is_lively_ && rng_.below(16) == 0; }
  /// Does `work` now or later, as the Timing says. `at`: the number of the instruction that issues the work, for
  /// findings.
  void defer(const Warp& warp, std::uint32_t at, std::function<void()> work);
  void note_progress() {
    last_progress_ = executed_;
    ++progress_;
    ++events_;
  }
  /// Records an event that may end a wait but is not necessarily progress.
  void note_event() { ++events_; }
  std::uint64_t events() const { return events_; }
  /// Records a read of shared memory that was never written. Such a read is a fault only if an output depends on it,
  /// because compilers load more than they use. Kernel finds that out by a second launch with another `fill`.
  void note_uninitialized(const Finding& finding, const Warp& warp);
  const std::optional<Finding>& uninitialized() const { return uninitialized_; }
  void print(const std::string& text) { printed_ += text; }

 private:
  /// Work that instruction `at` of the warp has issued and that is done later.
  struct DeferredWork {
    const Warp* warp;
    std::uint32_t at;
    std::function<void()> work;
  };
  void run_grid();
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
  std::int64_t begun_ = 0;  // clusters that have begun
  std::vector<DeferredWork> deferred_;
  bool waits_time_out_ = false, is_lively_ = true;
  int idle_rounds_ = 0;
  std::uint64_t progress_ = 0, idle_progress_ = 0, swept_progress_ = 0, events_ = 0;
  std::int64_t executed_ = 0, last_progress_ = 0, last_admission_ = 0, thread_instructions_ = 0;
  std::string printed_;
  std::optional<Finding> uninitialized_;
};

}  // namespace deplo::measure::ptx
