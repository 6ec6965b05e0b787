// Builds candidates ahead in separate processes, for backends that cache builds on disk, where the device finds them
// (CUDA's cubins and PoCL's files).
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

/// A pool of worker processes that build candidates. Must be used from one thread.
class BuildPool {
 public:
  /// Returns the number of cores minus one, which is left to the worker that measures; at least one.
  static std::size_t default_workers();
  /// Workers (serve_builds) start when there is something to build.
  BuildPool(std::size_t workers, WorkerCommand, const Deadlines& = {});
  /// Cancels the builds in progress.
  ~BuildPool();
  BuildPool(const BuildPool&) = delete;
  BuildPool& operator=(const BuildPool&) = delete;

  /// Starts building the candidates, in this order. Earlier candidates that were not taken are forgotten.
  void prepare(std::span<const KernelCode>);
  /// Waits for the build of a candidate, and starts it if it was not prepared. The Reply has no times: it is a failure,
  /// or the compiler's Resources. Throws Error if no worker can be started.
  Reply take(const KernelCode&, const std::function<bool()>& cancelled);
  std::size_t workers() const { return threads_.size(); }
  /// Waits until no build is queued or in progress.
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
  std::mutex mutex_;  // protects all members below
  std::condition_variable_any wanted_, done_;
  std::deque<JobPtr> queue_;
  std::size_t building_ = 0;            // builds in progress
  std::map<std::string, JobPtr> jobs_;  // by source text: jobs that were not taken yet
  std::vector<std::jthread> threads_;   // the last member, so that the threads end first
};

}  // namespace deplo::measure::worker
