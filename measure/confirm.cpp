// Confirmation: the best candidates and the baseline against each other, on full runs.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "core/rng.h"
#include "measure/sampling.h"

namespace deplo::measure {
namespace {

struct Entry {
  Contender contender;
  Timing timing;
  std::optional<Failure> failure;
};

/// A full launch on poisoned outputs, compared with the reference. The device's time.
Result<double> verified_launch(const Contender& contender, Problem& problem) {
  problem.poison_outputs();
  auto time = contender.executable->launch(problem.arrays(), contender.grid.blocks);
  if (!time.ok()) return time;
  if (auto wrong = problem.check(Coverage::whole)) return *wrong;
  return time;
}

void take_sample(Entry& entry, Problem& problem) {
  const Contender& contender = entry.contender;
  const auto time = sample(*contender.executable, problem.arrays(), contender.grid.blocks, entry.timing.batch);
  if (time.ok())
    entry.timing.samples.push_back(time.value());
  else
    entry.failure = time.failure();
}

void shuffle(std::vector<std::size_t>& order, Rng& rng) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
}

/// Rounds until their number, the time or the user ends them.
void run_rounds(std::vector<Entry>& entries, Problem& problem, const Protocol& protocol,
                const ConfirmOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Rng rng(options.seed);
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < protocol.rounds; ++round) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (round > 0 && spent.count() > options.seconds) return;
    shuffle(order, rng);
    for (const std::size_t i : order) {
      if (options.cancelled && options.cancelled()) return;
      if (!entries[i].failure) take_sample(entries[i], problem);
    }
  }
}

Result<Timing> result_of(Entry& entry) {
  if (entry.failure) return std::move(*entry.failure);
  if (entry.timing.samples.empty()) return Failure{Status::timeout, "cancelled before the first sample"};
  entry.timing.median_us = median(entry.timing.samples);
  return std::move(entry.timing);
}

}  // namespace

std::vector<Result<Timing>> confirm(std::span<const Contender> contenders, Problem& problem, const Protocol& protocol,
                                    const ConfirmOptions& options) {
  const auto cancelled = [&] { return options.cancelled && options.cancelled(); };
  std::vector<Entry> entries;
  for (const Contender& contender : contenders) {
    Entry& entry = entries.emplace_back(Entry{contender, {}, {}});
    if (cancelled()) continue;
    const auto time = verified_launch(contender, problem);
    if (time.ok())
      entry.timing.batch = batch_size(protocol.confirm_sample_us, time.value(), protocol);
    else
      entry.failure = time.failure();
  }
  run_rounds(entries, problem, protocol, options);
  std::vector<Result<Timing>> results;
  for (Entry& entry : entries) {
    // Once more after the last sample: a race shows now and then.
    if (!entry.failure && !cancelled())
      if (const auto time = verified_launch(entry.contender, problem); !time.ok()) entry.failure = time.failure();
    results.push_back(result_of(entry));
  }
  return results;
}

}  // namespace deplo::measure
