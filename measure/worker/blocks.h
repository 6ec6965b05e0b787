// Runs tile programs block by block in a child process, because blocks may wait for one that never begins, and their
// accesses are not checked (measure/run_blocks.h).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "measure/run_blocks.h"
#include "measure/worker/message.h"
#include "measure/worker/worker.h"

namespace deplo::measure::worker {

/// A file without a name. The child opens it by path(), which has this process's id and the descriptor.
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

/// The request to a worker of blocks: one launch.
struct BlocksTask {
  rules::BlockKernel kernel;
  std::vector<ir::tile_program::Array> arrays;
  /// Paths of files. `memory` contains the bytes of the arrays, one after the other, then those of kernel.initial;
  /// after the launch the worker overwrites it with the new contents. `printed` receives the blocks' output.
  std::string memory, printed;
  bool timed = true;
};
/// Of arrays and kernel.initial, encodes only the sizes; decode_blocks() reads their bytes from `memory`.
std::string encode(const BlocksTask&);
BlocksTask decode_blocks(std::string_view);

/// Called in the worker: runs the task and writes the two files. Returns microseconds like measure::run_blocks. Throws
/// Error.
double run_task(BlocksTask&, Device&);

/// One launch, in a process that ends with this object.
class BlocksWorker {
 public:
  /// Starts the process and waits until it has opened the device. Throws the worker's Error.
  explicit BlocksWorker(const WorkerCommand&);

  const DeviceInfo& info() const { return hello_.info; }
  Dialect dialect() const { return hello_.dialect; }
  /// Like measure::run_blocks, but at most once. Building and launching may take `seconds`. Throws Error if it failed,
  /// if the process died, or if it had to be killed.
  double run(const rules::BlockKernel&, std::vector<ir::tile_program::Array>& arrays, double seconds,
             bool timed = true);
  /// The blocks' output so far.
  std::string printed() const;

 private:
  SharedFile memory_, printed_;
  Worker worker_;
  Hello hello_;
};

}  // namespace deplo::measure::worker
