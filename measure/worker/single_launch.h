// Launches a kernel once in a child process, because its blocks may wait for a block that never begins, and nothing
// checks its memory accesses (measure/launch_once.h).
#pragma once
#include <string>
#include <string_view>

#include "core/descriptors.h"
#include "measure/launch_once.h"
#include "measure/worker/message.h"
#include "measure/worker/worker.h"

namespace deplo::measure::worker {

/// A file without a name. The child opens it by path(), which contains this process's id and the descriptor.
class SharedFile {
 public:
  /// Throws Error(environment).
  SharedFile();
  int descriptor() const { return file_.number; }
  std::string path() const;
  /// Returns the file's contents.
  std::string text() const;

 private:
  Descriptor file_;
};

/// The request to the worker.
struct SingleLaunch {
  KernelCode code;
  Contents contents;
  /// Paths of files. The file `memory` has the bytes of all contents in order; after the launch the worker overwrites
  /// them with the new contents. The file `printed` receives what the blocks print.
  std::string memory, printed;
  bool timed = true;
};
/// Encodes only the sizes of the contents; decode_launch() reads their bytes from `memory`.
std::string encode(const SingleLaunch&);
SingleLaunch decode_launch(std::string_view);

/// Called in the worker: launches and writes the two files. Returns microseconds like launch_once(). Throws Error.
double run_launch(SingleLaunch&, Device&);

/// Runs one launch in a process that ends with this object.
class LaunchWorker {
 public:
  /// Starts the process and waits until it has opened the device. Throws the worker's Error.
  explicit LaunchWorker(const WorkerCommand&);

  const DeviceInfo& info() const { return hello_.info; }
  Dialect dialect() const { return hello_.dialect; }
  /// Like launch_once(), but may be called only once. Building and launching may take `seconds`. Throws Error if the
  /// launch failed, or if the process died or had to be killed.
  double run(const KernelCode&, Contents&, double seconds, bool timed = true);
  /// Returns what the blocks have printed so far.
  std::string printed() const { return printed_.text(); }

 private:
  SharedFile memory_, printed_;
  Worker worker_;
  Hello hello_;
};

}  // namespace deplo::measure::worker
