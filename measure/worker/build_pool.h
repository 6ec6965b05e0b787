// Candidates built ahead by processes of their own: for backends whose builds are found again by the device (CUDA's
// cubins and PoCL's files on disk).
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "measure/worker/runner.h"
#include "measure/worker/worker.h"

namespace deplo::measure::worker {

/// To be used from one thread.
class BuildPool {
 public:
  /// One worker beside the one that measures for each other core.
  static std::size_t default_workers();
  /// Workers (serve_builds) start when there is something to build.
  BuildPool(std::size_t workers, WorkerCommand, const Deadlines& = {});
  /// Ends what is being built.
  ~BuildPool();
  BuildPool(const BuildPool&) = delete;
  BuildPool& operator=(const BuildPool&) = delete;

  /// Begins to build them, in this order. What was prepared before and was not taken is forgotten.
  void prepare(std::span<const KernelCode>);
  /// Waits for the build of a candidate; it is built now if it was not prepared. Without times: a failure or what the
  /// compiler said. Throws when no worker can be started.
  Reply take(const KernelCode&, const std::function<bool()>& cancelled);
  std::size_t workers() const { return threads_.size(); }
  /// Waits until nothing is built any more.
  void settle(const std::function<bool()>& cancelled);

 private:
  struct Job {
    KernelCode candidate;
    std::optional<Reply> reply;
    std::exception_ptr error;
  };
  using JobPtr = std::shared_ptr<Job>;
  void work(const std::stop_token&);
  JobPtr next(const std::stop_token&);
  void build(Job&, std::unique_ptr<Worker>&, const std::stop_token&);
  std::optional<Lost> try_build(Job&, std::unique_ptr<Worker>&, const std::stop_token&);

  const WorkerCommand command_;
  const Deadlines deadlines_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable_any wanted_, done_;
  std::deque<JobPtr> queue_;
  std::size_t building_ = 0;            // taken from the queue
  std::map<std::string, JobPtr> jobs_;  // by source text: prepared and not taken
  std::vector<std::jthread> threads_;   // last: they end first
};

}  // namespace deplo::measure::worker
