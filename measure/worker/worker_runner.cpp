#include "measure/worker/worker_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "core/indices.h"

namespace deplo::measure::worker {
namespace {

constexpr int max_attempts = 3;  // attempts to start a worker, because the system may kill one
// Candidates in a batch: fifteen are built while one is measured. A searcher that gets its results sixteen candidates
// late loses little (measurement.md trains and asks in such batches).
constexpr std::size_t batch_built_ahead = 16;
// On a GPU, a candidate that ran well before may take this many times as long after the worker was replaced
// (measurement.md). Times on CPUs are not compared, because they depend on the load.
constexpr double probe_slowdown = 1.10;

/// Returns a text such as "10.2 µs at 1755 MHz".
std::string describe(const Timing& timing) {
  return fmt::format("{:.4g} µs{}", timing.median_us,
                     timing.clock_mhz > 0 ? fmt::format(" at {:.0f} MHz", timing.clock_mhz) : "");
}

}  // namespace

bool is_slower(const Timing& before, const Timing& now) {
  const bool known = before.clock_mhz > 0 && now.clock_mhz > 0;
  const double clocks = known ? std::max(before.clock_mhz / now.clock_mhz, 1.0) : 1;
  return now.median_us > probe_slowdown * before.median_us * clocks;
}

WorkerRunner::WorkerRunner(Options options) : options_(std::move(options)) {
  if (options_.deadlines) deadlines_ = *options_.deadlines;
  get_worker([this] { return start(); });
  if (!options_.deadlines) deadlines_ = Deadlines::of(info());
}

void WorkerRunner::get_worker(const std::function<std::string()>& why_not) {
  std::string fault;
  for (int i = 0; i < max_attempts; ++i) {
    fault = why_not();
    if (fault.empty()) return;
    worker_.reset();
  }
  throw Error(fmt::format("device {}: gave up after {} workers: {}", info().name, max_attempts, fault),
              Exit::environment);
}

std::string WorkerRunner::start() {
  worker_.reset();  // before the next worker starts, because the device's memory may not be enough for two
  worker_ = std::make_unique<Worker>(options_.command);
  ++workers_;
  task_told_ = false;
  auto hello = worker_->hello(deadlines_);
  if (const auto* lost = std::get_if<Lost>(&hello)) {
    worker_.reset();
    if (ended_from_outside(*lost)) return describe(*lost);
    throw Error("no worker: " + describe(*lost), Exit::environment);
  }
  if (const Hello said = decode_hello(std::get<std::string>(hello)); info().name.empty())
    hello_ = said;
  else if (said.info.name != info().name || said.info.driver != info().driver)
    throw Error(fmt::format("expected the device {} ({}), found {} ({}) after its worker was replaced", info().name,
                            info().driver, said.info.name, said.info.driver),
                Exit::environment);
  return "";
}

std::string WorkerRunner::why_no_energy() {
  std::string answer;
  get_worker([&]() -> std::string {
    if (!worker_)
      if (std::string fault = start(); !fault.empty()) return fault;
    const auto told = worker_->ask({FrameType::energy, {}, deadlines_});
    if (const auto* lost = std::get_if<Lost>(&told)) return describe(*lost);
    answer = std::get<std::string>(told);
    return "";
  });
  return answer;
}

void WorkerRunner::open(const Task& task) {
  task_ = task;
  libraries_ = {};
  task_told_ = false;
  good_.reset();
  ready();
}

// On a CPU, each builder builds one candidate, and then all are measured. With more candidates at a time, results would
// only come later.
std::size_t WorkerRunner::batch() const {
  if (!builders_) return 1;
  return info().cpu ? builders_->workers() : batch_built_ahead;
}

/// Waits for the builders before a measurement, because they use the same cores.
void WorkerRunner::settle() {
  if (builders_ && info().cpu) builders_->settle(options_.cancelled);
}

void WorkerRunner::prepare(std::span<const KernelCode> candidates) {
  if (builders_) builders_->prepare(candidates);
}

/// Ensures that there is a worker that has the task. If an earlier worker ran a candidate of the task well, the new one
/// must first show that the device still works.
void WorkerRunner::ready() {
  get_worker([this] { return worker_ && task_told_ ? "" : probe(); });
}

std::string WorkerRunner::probe() {
  if (!worker_)
    if (std::string fault = start(); !fault.empty()) return fault;
  task_.known = rules::highest(task_.known, ceilings_);  // so that a new worker need not measure them again
  const std::string task = encode(task_);
  const auto told = [&] {
    try {
      return worker_->ask({FrameType::kernel, task, deadlines_});
    } catch (const Error& error) {  // an answer of the worker, which is still alive
      throw Untunable(error);
    }
  }();
  if (const auto* lost = std::get_if<Lost>(&told)) return describe(*lost);
  task_told_ = true;
  try {
    Opened opened = decode_opened(std::get<std::string>(told));
    ceilings_ = rules::highest(ceilings_, opened.ceilings);
    if (task_.libraries) libraries_ = std::move(opened.libraries);
  } catch (const Error& error) {
    return error.what();
  }
  return good_ ? check_known_good() : "";
}

/// Checks that the known good candidate still runs as before. Returns "", or the reason if it does not. If it only
/// became slower, warns the user and gives the device time to recover, because it may be hot, or shared for a moment.
/// Throws Error(environment) if it stays slower.
std::string WorkerRunner::check_known_good() {
  constexpr int max_tries = 3;
  for (int tried = 1;; ++tried) {
    const auto answer = ask_one(good_->candidate, std::numeric_limits<double>::infinity(), 1);
    if (const auto* lost = std::get_if<Lost>(&answer)) return describe(*lost);
    const auto& timing = std::get<Reply>(answer).timing;
    if (!timing.ok())
      return fmt::format("a schedule that was right before is now {}: {}", status_name(timing.failure().status),
                         timing.failure().message);
    const Timing &before = good_->timing, &now = timing.value();
    if (info().cpu || now.median_us <= probe_slowdown * before.median_us) return "";
    const std::string what = fmt::format("a schedule that took {} now takes {}", describe(before), describe(now));
    if (!is_slower(before, now)) {
      if (options_.warn) options_.warn(what + ": the device's clock is lower");
      return "";
    }
    if (tried == max_tries)
      throw Error(fmt::format("device {}: {}, {} times in a row", info().name, what, tried), Exit::environment);
    if (options_.warn) options_.warn(fmt::format("{}; trying again in {:g} s", what, options_.rest_s));
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.rest_s));
  }
}

/// Sends a request and returns the replies. After a loss, or if a reply's failure spoils the process, the worker is
/// gone.
std::variant<std::vector<Reply>, Lost> WorkerRunner::ask(FrameType type, std::string_view payload, std::size_t count) {
  auto answer = worker_->ask({type, payload, deadlines_, options_.cancelled});
  std::variant<std::vector<Reply>, Lost> result;
  if (auto* lost = std::get_if<Lost>(&answer)) {
    result = std::move(*lost);
  } else {
    try {
      result = decode_replies(std::get<std::string>(answer), count);
    } catch (const Error& error) {
      result = Lost{Lost::Cause::corrupt, {}, {0, error.what(), ""}};
    }
  }
  const auto spoilt = [](const Reply& reply) {
    return !reply.timing.ok() && spoils_process(reply.timing.failure().status);
  };
  const auto* replies = std::get_if<std::vector<Reply>>(&result);
  if (replies == nullptr || std::any_of(replies->begin(), replies->end(), spoilt)) worker_.reset();
  return result;
}

std::variant<Reply, Lost> WorkerRunner::ask_one(const KernelCode& candidate, double best_us, double effort) {
  auto answer = ask(FrameType::screen, encode({&candidate, 1}, best_us, effort, 0, 0), 1);
  if (auto* lost = std::get_if<Lost>(&answer)) return std::move(*lost);
  return std::move(std::get<std::vector<Reply>>(answer).front());
}

Reply WorkerRunner::screen(const KernelCode& candidate, double best_us, double effort) {
  double build_ms = 0;
  if (builders_) {
    Reply built = builders_->take(candidate, options_.cancelled);
    settle();
    if (!built.timing.ok()) return built;
    build_ms = built.build_ms;
  }
  for (int tried = 1;; ++tried) {
    ready();
    const double start = monotonic_now();
    auto answer = ask_one(candidate, best_us, effort);
    if (const auto* lost = std::get_if<Lost>(&answer)) {
      if (tried < tries(*lost)) continue;
      return {failure_of(*lost), {}, lost->at.step == Step::build ? (monotonic_now() - start) * 1e3 : build_ms};
    }
    Reply& reply = std::get<Reply>(answer);
    reply.build_ms += build_ms;
    if (reply.timing.ok() && !good_) good_ = Known{candidate, reply.timing.value()};
    return std::move(reply);
  }
}

/// Confirms the candidates together. If a candidate or a library killed the worker, all others become `device_lost`.
std::vector<Reply> WorkerRunner::ask_all(std::span<const KernelCode> candidates, const ConfirmOptions& options) {
  const double end = monotonic_now() + options.seconds;
  std::vector<int> tried(candidates.size() + libraries_.found.size(), 0);
  for (;;) {
    ready();
    const double seconds = std::max(end - monotonic_now(), 0.0);
    const std::size_t count = candidates.size() + (task_.libraries ? libraries_.found.size() : 0);
    std::string request = encode(candidates, 0, 1, options.seed, seconds);
    if (request.size() > max_payload)
      throw Error(fmt::format(
          "protocol: expected a max_finalists whose kernels take at most {} MiB, found {} kernels of {} MiB",
          max_payload >> 20, candidates.size(), request.size() >> 20));
    auto answer = ask(FrameType::confirm, std::move(request), count);
    const auto* lost = std::get_if<Lost>(&answer);
    if (lost == nullptr) return std::move(std::get<std::vector<Reply>>(answer));
    if (lost->cause == Lost::Cause::cancelled) return std::vector<Reply>(count, Reply{failure_of(*lost)});
    const std::size_t culprit = std::min<std::size_t>(lost->at.candidate, count - 1);
    if (++tried[culprit] < tries(*lost)) continue;
    std::vector<Reply> replies(count, Reply{Failure{Status::device_lost, "its worker was lost"}});
    replies[culprit].timing = failure_of(*lost);
    return replies;
  }
}

std::vector<Reply> WorkerRunner::confirm(std::span<const KernelCode> candidates, const ConfirmOptions& options) {
  const auto failed = [](const Reply& reply) { return !reply.timing.ok(); };
  const auto lost = [](const Reply& reply) {
    return !reply.timing.ok() && reply.timing.failure().status == Status::device_lost;
  };
  settle();  // a search may have ended before it measured all prepared candidates
  ready();   // makes the libraries known
  std::vector<Reply> replies(candidates.size() + libraries_.found.size(), Reply{Failure{Status::device_lost, ""}});
  std::vector<std::size_t> left = indices(candidates.size());
  while (!left.empty()) {
    std::vector<KernelCode> again;
    for (const std::size_t i : left) again.push_back(candidates[i]);
    const auto results = ask_all(again, options);
    const std::span of_candidates(results.data(), left.size()),
        of_libraries(results.data() + left.size(), results.data() + results.size());
    std::ranges::copy(of_libraries, replies.begin() + static_cast<std::ptrdiff_t>(candidates.size()));
    // Candidates that were lost with another one are tried again without it. If a library was the cause, they are tried
    // again without any library.
    const auto is_culprit = [&](const Reply& reply) { return failed(reply) && !lost(reply); };
    const bool culprit = std::ranges::any_of(results, is_culprit);
    if (culprit && std::ranges::none_of(of_candidates, is_culprit) && std::ranges::any_of(of_candidates, lost)) {
      task_.libraries = false;
      task_told_ = false;
    }
    std::vector<std::size_t> taken_along;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (culprit && lost(results[i]))
        taken_along.push_back(left[i]);
      else
        replies[left[i]] = results[i];
    }
    left = std::move(taken_along);
  }
  return replies;
}

}  // namespace deplo::measure::worker
