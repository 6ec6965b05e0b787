// A Runner in a child process. The child is replaced if a candidate kills it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "measure/worker/build_pool.h"
#include "measure/worker/message.h"
#include "measure/worker/runner.h"
#include "measure/worker/worker.h"

namespace deplo::measure::worker {

/// Returns true if the same candidate now takes more than 10 % longer than before, and a lower clock does not explain
/// it.
bool is_slower(const Timing& before, const Timing& now);

/// Measures candidates in a worker process. Most of its methods are those of Runner.
class WorkerRunner final : public Runner {
 public:
  struct Options {
    WorkerCommand command;
    std::optional<Deadlines> deadlines = {};            // nullopt: Deadlines::of() the device
    std::function<bool()> cancelled = {};               // polled while a candidate is measured; may be empty
    std::function<void(const std::string&)> warn = {};  // called if the device is slower than before; may be empty
    double rest_s = 1;                                  // seconds before a slower device is tried again
  };
  /// Starts the worker and waits until it has opened the device. Throws the worker's Error.
  explicit WorkerRunner(Options);

  const DeviceInfo& info() const override { return hello_.info; }
  Dialect dialect() const override { return hello_.dialect; }
  std::string why_no_energy() override;
  void open(const Task&) override;
  rules::Ceilings ceilings() const override { return ceilings_; }
  const Libraries& libraries() const override { return libraries_; }
  std::size_t batch() const override;
  void prepare(std::span<const KernelCode>) override;
  Reply screen(const KernelCode&, double best_us, double effort) override;
  std::vector<Reply> confirm(std::span<const KernelCode>, const ConfirmOptions&) override;

  /// From now on, `pool` builds the prepared candidates. Only for backends whose build finds them in a cache.
  void build_ahead(std::unique_ptr<BuildPool> pool) { builders_ = std::move(pool); }
  /// Returns the number of workers started so far.
  int workers() const { return workers_; }

 private:
  struct Known {
    KernelCode candidate;
    Timing timing;
  };
  /// Calls `why_not` until a worker is ready, and throws Error(environment) after some attempts. `why_not` tries to
  /// make a worker ready, and returns "" if it is, else the reason.
  void get_worker(const std::function<std::string()>& why_not);
  void settle();
  std::string start();
  void ready();
  std::string probe();
  std::string check_known_good();
  std::variant<Reply, Lost> ask_one(const KernelCode&, double best_us, double effort);
  std::vector<Reply> ask_all(std::span<const KernelCode>, const ConfirmOptions&);
  std::variant<std::vector<Reply>, Lost> ask(FrameType, std::string_view payload, std::size_t count);

  Options options_;
  std::unique_ptr<BuildPool> builders_;  // null: the worker itself builds
  Hello hello_;
  Deadlines deadlines_;
  std::unique_ptr<Worker> worker_;
  int workers_ = 0;
  rules::Ceilings ceilings_;  // the highest of all workers
  Task task_;
  Libraries libraries_;        // for the task's kernel
  bool task_told_ = false;     // the current worker has the task
  std::optional<Known> good_;  // the task's first candidate that ran well; each new worker must run it again
};

}  // namespace deplo::measure::worker
