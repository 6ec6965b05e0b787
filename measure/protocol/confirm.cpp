// Confirmation: times the best candidates and the baseline against each other, on full runs.
#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/rng.h"
#include "measure/protocol/energy.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/sampling.h"
#include "measure/protocol/stopping.h"

namespace deplo::measure {
namespace {

struct Entry {
  Contender contender;
  Timing timing;
  std::optional<Failure> failure;
  std::uint64_t bits = 0;  // hash of the outputs' bits
  std::vector<double> clocks, warm;
};

class Confirmation {
 public:
  Confirmation(std::span<const Contender> contenders, Problem& problem, const Protocol& protocol,
               const ConfirmOptions& options)
      : problem_(problem),
        protocol_(protocol),
        options_(options),
        rng_(options.seed),
        sampler_(problem.device(), protocol.confirm_clock),
        // screen_clock, because other programs disturb a device that does not report its clock by more than the 3 % of
        // confirm_clock.
        watch_(problem.device(), protocol.screen_clock) {
    for (const Contender& contender : contenders) {
      entries_.push_back({contender, {}, {}, 0, {}, {}});
      entries_.back().timing.fidelity = 1;
    }
  }

  std::vector<Result<Timing>> run() {
    for (Entry& entry : entries_)
      if (!cancelled()) begin(entry);
    run_rounds();
    for (int i = 0; i < protocol_.warm_samples && problem_.sets().size() > 1; ++i)
      for (const std::size_t number : shuffled())
        if (!entries_[number].failure && !cancelled()) take_warm(entries_[number]);
    for (Entry& entry : entries_)
      if (options_.energy != nullptr && !entry.failure && !cancelled()) measure_energy(entry);
    std::vector<Result<Timing>> results;
    for (Entry& entry : entries_) {
      if (!entry.failure && !cancelled()) end(entry);
      results.push_back(result_of(entry));
    }
    return results;
  }

 private:
  bool cancelled() const { return options_.cancelled && options_.cancelled(); }

  /// Makes a full launch on poisoned outputs and compares them with the reference. Returns the device's time.
  Result<double> verified_launch(const Contender& contender) {
    problem_.poison_outputs();
    auto time = contender.executable->launch(problem_.arrays(), contender.grid.blocks);
    if (!time.ok()) return time;
    if (auto wrong = problem_.check(Coverage::whole, contender.tf32 ? tf32_tolerance : 0)) return *wrong;
    if (auto noop = check_time(time.value())) return *noop;
    return time;
  }

  /// Checks the contender, and determines the number of launches per sample from a first sample, which is discarded.
  void begin(Entry& entry) {
    const auto time = verified_launch(entry.contender);
    if (!time.ok()) return fail(entry, time.failure());
    entry.bits = problem_.checked_bits();
    entry.timing.sets = static_cast<int>(problem_.sets().size());
    const std::int64_t blocks = entry.contender.grid.blocks;
    const int batch = batch_size(protocol_.confirm_sample_us, time.value(), protocol_, problem_.sets());
    if (auto failure = sampler_.wake(*entry.contender.executable, problem_.sets(), blocks, batch))
      return fail(entry, *failure);
    const auto taken = sampler_.take(*entry.contender.executable, problem_.sets(), blocks, batch);
    if (!taken.ok()) return fail(entry, taken.failure());
    const double us = taken.value().sample.us;
    entry.timing.batch = batch_size(protocol_.confirm_sample_us, us, protocol_, problem_.sets());
  }

  static void fail(Entry& entry, Failure failure) { entry.failure = std::move(failure); }

  /// Checks the contender again after the last sample, because a race shows only now and then.
  void end(Entry& entry) {
    if (const auto time = verified_launch(entry.contender); !time.ok())
      fail(entry, time.failure());
    else if (!entry.contender.grid.adds && problem_.checked_bits() != entry.bits)
      fail(entry, {Status::nondeterministic, "two runs on the same inputs gave different bits"});
    else if (!entry.timing.samples.empty() && !entry.contender.tf32)
      entry.failure = problem_.implausible(median(entry.timing.samples), entry.timing.batch, protocol_.plausible);
  }

  std::vector<std::size_t> shuffled() {
    std::vector<std::size_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    return order;
  }

  /// Runs rounds until the rule is done, the time is over or the confirmation is cancelled.
  void run_rounds() {
    const auto start = std::chrono::steady_clock::now();
    const double seconds = options_.seconds - energies_take();
    ConfirmRule rule(protocol_, entries_.size());
    for (int round = 0; !rule.done(); ++round) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (round > 0 && spent.count() > seconds) return;
      watch_drift();
      std::vector<double> times(entries_.size(), std::numeric_limits<double>::quiet_NaN());
      for (const std::size_t i : shuffled()) {
        if (cancelled()) return;
        if (!entries_[i].failure) times[i] = take(entries_[i]);
      }
      rule.add(times);
    }
  }

  /// Takes a sample and returns its time per launch in microseconds; NaN if it fails.
  double take(Entry& entry) {
    auto taken =
        sampler_.take(*entry.contender.executable, problem_.sets(), entry.contender.grid.blocks, entry.timing.batch);
    if (!taken.ok()) {
      fail(entry, taken.failure());
      return std::numeric_limits<double>::quiet_NaN();
    }
    const auto& [sample, rejected] = taken.value();
    entry.timing.samples.push_back(sample.us);
    entry.timing.rejected.insert(entry.timing.rejected.end(), rejected.begin(), rejected.end());
    entry.clocks.push_back(sample.clock_mhz);
    return sample.us;
  }

  void take_warm(Entry& entry) {
    const auto taken = sampler_.take_warm(*entry.contender.executable, problem_.sets(), entry.contender.grid.blocks,
                                          entry.timing.batch);
    if (taken.ok())
      entry.warm.push_back(taken.value().sample.us);
    else
      fail(entry, taken.failure());
  }

  void measure_energy(Entry& entry) {
    if (entry.timing.samples.empty()) return;
    const auto of_launch = energy_of_launch(*entry.contender.executable, problem_.sets(), entry.contender.grid.blocks,
                                            median(entry.timing.samples), *options_.energy);
    if (of_launch.ok())
      entry.timing.energy_mj = of_launch.value();
    else
      fail(entry, of_launch.failure());
  }

  /// Returns the seconds that measuring the energies of all contenders takes.
  double energies_take() const {
    if (options_.energy == nullptr) return 0;
    return static_cast<double>(entries_.size()) * (energy_seconds + 2e-6 * options_.energy->step_us());
  }

  /// If the device does not report its clock, pauses while it is much slower than in the rounds before.
  void watch_drift() {
    const bool says_clock = std::ranges::any_of(
        entries_, [](const Entry& entry) { return !entry.clocks.empty() && entry.clocks.back() > 0; });
    if (says_clock || problem_.probe() == nullptr || !problem_.probe()->reference().executable) return;
    const Probe::Load& reference = problem_.probe()->reference();
    // Only the pauses matter, not the sample. If the reference fails, the next launch of a candidate reports the
    // failure.
    (void)watch_.watch(*reference.executable, problem_.probe()->reference_arrays(), reference.blocks);
  }

  static Result<Timing> result_of(Entry& entry) {
    if (entry.failure) return std::move(*entry.failure);
    if (entry.timing.samples.empty()) return Failure{Status::cancelled, "cancelled before the first sample"};
    entry.timing.median_us = median(entry.timing.samples);
    entry.timing.clock_mhz = median(entry.clocks);
    entry.timing.warm_us = entry.warm.empty() ? 0 : median(entry.warm);
    if (entry.timing.sets == 1) entry.timing.warm_us = entry.timing.median_us;
    return std::move(entry.timing);
  }

  Problem& problem_;
  const Protocol& protocol_;
  const ConfirmOptions& options_;
  Rng rng_;
  Sampler sampler_, watch_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Result<Timing>> confirm(std::span<const Contender> contenders, Problem& problem, const Protocol& protocol,
                                    const ConfirmOptions& options) {
  return Confirmation(contenders, problem, protocol, options).run();
}

}  // namespace deplo::measure
