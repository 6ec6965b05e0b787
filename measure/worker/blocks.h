// Tile programs block by block in a child process: blocks may wait for one that never begins, and nothing checks what they
// access (measure/run_blocks.h).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "measure/run_blocks.h"
#include "measure/worker/message.h"
#include "measure/worker/worker.h"

namespace deplo::measure::worker {

/// A file without a name, which the child opens by this process and its number.
class SharedFile {
 public:
  /// Throws Error(environment).
  SharedFile();
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  std::string path() const;

 private:
  int descriptor_ = -1;
};

/// What a worker of blocks is asked for: one launch.
struct BlocksTask {
  ir::tile_program::BlockKernel kernel;
  std::vector<ir::tile_program::Array> arrays;
  /// Paths of files. The first has the bytes of the arrays, one behind the other, then those of kernel.initial, and takes
  /// the arrays as they are after the launch; the second takes what the blocks print.
  std::string memory, printed;
  bool timed = true;
};
/// Of arrays and kernel.initial only the sizes: decode_blocks() reads their bytes from `memory`.
std::string encode(const BlocksTask&);
BlocksTask decode_blocks(std::string_view);

/// The inside of the worker: runs it, and writes the two files. Returns as measure::run_blocks. Throws Error.
double run_task(BlocksTask&, Device&);

/// One launch, in a process that ends with this.
class BlocksWorker {
 public:
  /// Starts the process and waits until it has opened the device. Throws the Error that it had.
  explicit BlocksWorker(const WorkerCommand&);

  const DeviceInfo& info() const { return hello_.info; }
  Dialect dialect() const { return hello_.dialect; }
  /// As measure::run_blocks, to be called once: builds and launches within so many seconds. Throws Error for what failed,
  /// and where the process died or had to be ended.
  double run(const ir::tile_program::BlockKernel&, std::vector<ir::tile_program::Array>& arrays, double seconds,
             bool timed = true);
  /// What the blocks have printed so far.
  std::string printed() const;

 private:
  SharedFile memory_, printed_;
  Worker worker_;
  Hello hello_;
};

}  // namespace deplo::measure::worker
