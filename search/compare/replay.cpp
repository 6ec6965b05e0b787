#include "search/compare/replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/rng.h"
#include "search/loop.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

// The most of `tune` (measure/protocol/protocol.h), which a final of close times takes.
constexpr std::size_t rounds_of_final = 60;

/// The launches of which an evaluation may take only a part. Empty if the objective is not a duration, because launches
/// do not give its value.
std::span<const double> launches_of(const Records& records, std::uint32_t row) {
  return records.objective.duration ? records.launches_of(records.records[row]) : std::span<const double>();
}

/// The number of recorded launches that an evaluation with this effort takes.
std::size_t taken(std::span<const double> launches, double effort) {
  return static_cast<std::size_t>(std::ceil(effort * static_cast<double>(launches.size())));
}

/// The sum of the first `count` launches.
double sum_of_first(std::span<const double> launches, std::size_t count) {
  return std::accumulate(launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

/// The sum of `count` launches that are drawn with replacement.
double sum_of_drawn(std::span<const double> launches, std::size_t count, Rng rng) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += launches[rng.below(launches.size())];
  return sum;
}

double launch_seconds(std::span<const double> launches) { return sum_of_first(launches, launches.size()) * 1e-6; }

class Replayer {
 public:
  Replayer(const TableSpace& space, const Landscape& landscape, Searcher& searcher, const Replay& replay,
           std::uint64_t seed)
      : space_(space), landscape_(landscape), searcher_(searcher), replay_(replay), seed_(seed) {}

  Steps in_sequence() {
    double now = begin();
    while (goes_on(now)) {
      const std::vector<Candidate> asked = searcher_.ask(1);
      if (asked.empty()) break;
      const std::uint32_t row = space_.row(asked[0]);
      now += build_seconds(asked[0], row) + run_seconds(asked[0], row);
      tell(asked[0], row, now);
    }
    return std::move(steps_);
  }

  Steps with_workers() {
    idle_ = replay_.workers;
    for (double now = begin();;) {
      start_builds(now);
      if (events_.empty()) break;
      const Event event = events_.top();
      events_.pop();
      now = event.at;
      if (event.built) {
        ++idle_;
        ready_.push_back(event.item);
      } else {
        tell(items_[event.item], space_.row(items_[event.item]), now);
        --outstanding_;
        device_busy_ = false;
      }
      start_run(now);
    }
    return std::move(steps_);
  }

  /// The row of the configuration that wins the final. nullopt: there is none.
  std::optional<std::uint32_t> winner() {
    if (timed_.empty()) return std::nullopt;
    CHECK(replay_.noisy);
    std::ranges::sort(timed_);
    const auto doubles = std::ranges::unique(timed_, {}, &Timed::row);  // a row has the same time in a run
    timed_.erase(doubles.begin(), doubles.end());
    timed_.resize(std::min(timed_.size(), replay_.finalists));
    return final(timed_);
  }

 private:
  struct Timed {
    double us;
    std::uint32_t row;
    auto operator<=>(const Timed&) const = default;
  };

  /// All finalists take part in each round, which is one recorded launch of each: the launches of a round were close in
  /// time if the records come from a final. The lowest median wins.
  std::uint32_t final(std::span<const Timed> finalists) const {
    Rng rng(seed_);
    std::vector<std::uint64_t> rounds(rounds_of_final);
    for (std::uint64_t& round : rounds) round = rng.next();
    const auto median = [&](const Timed& finalist) {
      const auto launches = launches_of(space_.records(), finalist.row);
      const double recorded = record(finalist.row).outcome.microseconds;
      if (launches.empty()) return recorded;
      std::vector<double> drawn;
      for (const std::uint64_t round : rounds) drawn.push_back(launches[round % launches.size()]);
      return recorded * quantile(drawn, 0.5) / quantile({launches.begin(), launches.end()}, 0.5);
    };
    return std::ranges::min(finalists, {}, median).row;
  }

  struct Event {
    double at;
    std::size_t item;
    bool built;  // true: the build ended; false: the run ended
    // The earliest event is on top. At equal times, it is the event of the candidate that was asked first.
    bool operator<(const Event& other) const { return std::tie(at, item) > std::tie(other.at, other.item); }
  };

  const Record& record(std::uint32_t row) const { return space_.records().records[row]; }
  bool goes_on(double now, std::size_t in_flight = 0) const {
    return now < replay_.seconds || static_cast<std::int64_t>(steps_.size() + in_flight) < replay_.evaluations;
  }

  /// Evaluates the first configuration alone, if there is one. Returns the time at which the evaluation ends.
  double begin() {
    if (!replay_.first) return 0;
    const Candidate first = space_.candidate(*replay_.first);
    const double end = build_seconds(first, *replay_.first) + run_seconds(first, *replay_.first);
    tell(first, *replay_.first, end);
    return end;
  }

  /// The cost of building; 0 if an earlier evaluation built the configuration, in runs that have evaluations with less
  /// effort.
  double build_seconds(const Candidate& candidate, std::uint32_t row) {
    // always the case for most searchers
    if (candidate.effort == 1 && built_.empty()) return record(row).build_seconds;
    return built_.insert(row).second ? record(row).build_seconds : 0;
  }

  /// The cost of running, without the launches that less effort leaves out.
  double run_seconds(const Candidate& candidate, std::uint32_t row) const {
    const Record& recorded = record(row);
    const auto launches = launches_of(space_.records(), row);
    if (candidate.effort == 1 || launches.empty()) return recorded.run_seconds;
    const double all = launch_seconds(launches);
    const double left_out =
        1 - static_cast<double>(taken(launches, candidate.effort)) / static_cast<double>(launches.size());
    return std::max(recorded.run_seconds - left_out * all, 0.0);
  }

  /// Starts as many builds as there are idle workers. The candidates in flight count as evaluated, so that a run of a
  /// number of evaluations has no more.
  void start_builds(double now) {
    while (idle_ > 0 && outstanding_ <= replay_.workers && goes_on(now, outstanding_)) {
      std::vector<Candidate> asked = searcher_.ask(1);
      if (asked.empty()) return;
      --idle_;
      ++outstanding_;
      events_.push({now + build_seconds(asked[0], space_.row(asked[0])), items_.size(), true});
      items_.push_back(std::move(asked[0]));
    }
  }

  void start_run(double now) {
    if (device_busy_ || ready_.empty()) return;
    device_busy_ = true;
    const Candidate& next = items_[ready_.front()];
    events_.push({now + run_seconds(next, space_.row(next)), ready_.front(), false});
    ready_.pop_front();
  }

  /// The recorded time, scaled by the mean of the launches that this evaluation takes over the mean of all.
  double microseconds(const Candidate& candidate, std::uint32_t row) const {
    const double recorded = record(row).outcome.microseconds;
    const auto launches = launches_of(space_.records(), row);
    if (launches.empty()) return recorded;
    const std::size_t all = launches.size(), count = taken(launches, candidate.effort);
    if (!replay_.noisy && count == all) return recorded;
    // Each effort draws its own launches, and draws the same ones throughout a run.
    const double sum = replay_.noisy ? sum_of_drawn(launches, count, Rng((seed_ + all - count) ^ Rng(row).next()))
                                     : sum_of_first(launches, count);
    const double share = static_cast<double>(count) / static_cast<double>(all);
    return recorded * sum / (sum_of_first(launches, all) * share);
  }

  void tell(const Candidate& candidate, std::uint32_t row, double now) {
    Outcome outcome = record(row).outcome;
    if (outcome.ok()) outcome.microseconds = microseconds(candidate, row);
    outcome.left_out_seconds = record(row).run_seconds - run_seconds(candidate, row);
    outcome.seconds -= outcome.left_out_seconds;
    const auto launches = launches_of(space_.records(), row);
    if (launches.size() > 1) outcome.launch_seconds = launch_seconds(launches) - outcome.left_out_seconds;
    searcher_.tell(candidate, outcome);
    if (outcome.ok() && best_.is_beaten_by(outcome.microseconds, candidate.effort)) {
      best_ = {outcome.microseconds, candidate.effort};
      rank_ = static_cast<float>(landscape_.rank(row));
    }
    if (outcome.ok() && candidate.effort == 1 && replay_.finalists > 0) timed_.push_back({outcome.microseconds, row});
    if (outcome.ok()) tried_ = std::max(tried_, static_cast<float>(landscape_.rank(row)));
    steps_.push_back({static_cast<float>(now), rank_, tried_});
  }

  const TableSpace& space_;
  const Landscape& landscape_;
  Searcher& searcher_;
  const Replay& replay_;
  std::uint64_t seed_;
  Steps steps_;
  std::vector<Timed> timed_;  // of full effort, if there is a final
  Incumbent best_;
  float rank_ = 0, tried_ = 0;
  std::unordered_set<std::uint32_t> built_;  // rows that were built, from the first evaluation with less effort on
  // Used only with workers:
  std::priority_queue<Event> events_;
  std::vector<Candidate> items_;  // in the order they were asked
  std::deque<std::size_t> ready_;
  std::size_t idle_ = 0, outstanding_ = 0;
  bool device_busy_ = false;
};

}  // namespace

Steps replay(const TableSpace& space, const Landscape& landscape, Searcher& searcher, const Replay& replay,
             std::uint64_t seed) {
  Replayer replayer(space, landscape, searcher, replay, seed);
  Steps steps = replay.workers == 0 ? replayer.in_sequence() : replayer.with_workers();
  if (const auto winner = replayer.winner()) steps.back().rank = static_cast<float>(landscape.rank(*winner));
  return steps;
}

}  // namespace deplo::search::compare
