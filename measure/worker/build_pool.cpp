#include "measure/worker/build_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "measure/worker/message.h"

namespace deplo::measure::worker {
namespace {

constexpr auto looks_every = std::chrono::milliseconds(50);

}  // namespace

std::size_t BuildPool::default_workers() { return std::max<std::size_t>(std::thread::hardware_concurrency(), 2) - 1; }

BuildPool::BuildPool(std::size_t workers, WorkerCommand command, const Deadlines& deadlines)
    : command_(std::move(command)), deadlines_(deadlines) {
  CHECK(workers > 0);
  for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

BuildPool::~BuildPool() {
  for (std::jthread& thread : threads_) thread.request_stop();  // stops all before the first is joined
}

void BuildPool::prepare(std::span<const KernelCode> candidates) {
  const std::scoped_lock lock(mutex_);
  queue_.clear();
  std::map<std::string, JobPtr> jobs;
  for (const KernelCode& candidate : candidates) {
    const auto [place, fresh] = jobs.try_emplace(candidate.source.text);
    if (!fresh) continue;
    if (const auto known = jobs_.find(candidate.source.text); known != jobs_.end() && known->second->reply) {
      place->second = known->second;
      continue;
    }
    place->second = std::make_shared<Job>(Job{candidate, {}, {}});
    queue_.push_back(place->second);
  }
  jobs_ = std::move(jobs);
  wanted_.notify_all();
}

Reply BuildPool::take(const KernelCode& candidate, const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  JobPtr& job = jobs_[candidate.source.text];
  if (!job) {
    job = std::make_shared<Job>(Job{candidate, {}, {}});
    queue_.push_front(job);
    wanted_.notify_one();
  }
  const JobPtr mine = job;
  const auto built = [&] { return mine->reply || mine->error; };
  while (!done_.wait_for(lock, looks_every, built))
    if (cancelled && cancelled()) return {Failure{Status::cancelled, "the user stopped the program"}};
  jobs_.erase(candidate.source.text);
  if (mine->error) std::rethrow_exception(mine->error);
  return std::move(*mine->reply);
}

void BuildPool::settle(const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  while (!done_.wait_for(lock, looks_every, [&] { return queue_.empty() && building_ == 0; }))
    if (cancelled && cancelled()) return;
}

BuildPool::JobPtr BuildPool::next(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!wanted_.wait(lock, stop, [&] { return !queue_.empty(); })) return nullptr;
  JobPtr job = std::move(queue_.front());
  queue_.pop_front();
  ++building_;
  return job;
}

/// The function of a thread. Each thread has a worker process, which the system kills when the thread ends. So the
/// thread lives as long as the pool.
void BuildPool::work(const std::stop_token& stop) {
  std::unique_ptr<Worker> worker;
  while (const JobPtr job = next(stop)) {
    Job built{job->candidate, {}, {}};
    try {
      build(built, worker, stop);
    } catch (...) {
      worker.reset();
      built.error = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    --building_;
    job->reply = std::move(built.reply);
    job->error = built.error;
    done_.notify_all();
  }
}

void BuildPool::build(Job& job, std::unique_ptr<Worker>& worker, const std::stop_token& stop) {
  for (int tried = 1;; ++tried) {
    const double start = monotonic_now();
    const auto lost = try_build(job, worker, stop);
    if (!lost) return;
    worker.reset();
    if (tried < tries(*lost)) continue;
    job.reply = Reply{failure_of(*lost), {}, (monotonic_now() - start) * 1e3};
    return;
  }
}

std::optional<Lost> BuildPool::try_build(Job& job, std::unique_ptr<Worker>& worker, const std::stop_token& stop) {
  if (!worker) {
    worker = std::make_unique<Worker>(command_);
    auto hello = worker->hello(deadlines_);
    if (auto* lost = std::get_if<Lost>(&hello)) return std::move(*lost);
  }
  auto answer = worker->ask(
      {FrameType::build, encode({&job.candidate, 1}, 0, 1, 0, 0), deadlines_, [&] { return stop.stop_requested(); }});
  if (auto* lost = std::get_if<Lost>(&answer)) return std::move(*lost);
  job.reply = std::move(decode_replies(std::get<std::string>(answer), 1).front());
  return std::nullopt;
}

}  // namespace deplo::measure::worker
