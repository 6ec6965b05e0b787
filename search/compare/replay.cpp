#include "search/compare/replay.h"

#include <deque>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "core/rng.h"

namespace deplo::search {
namespace {

double resampled(const Records& records, std::uint32_t row, std::uint64_t seed) {
  const Record& record = records.records[row];
  const auto launches = records.launches_of(record);
  if (launches.empty()) return record.outcome.microseconds;
  Rng rng(seed ^ Rng(row).next());
  double all = 0, drawn = 0;
  for (const double launch : launches) {
    all += launch;
    drawn += launches[rng.below(launches.size())];
  }
  return record.outcome.microseconds * drawn / all;
}

class Replayer {
 public:
  Replayer(const TableSpace& space, const Landscape& landscape, Searcher& searcher, const Replay& replay,
           std::uint64_t seed)
      : space_(space), landscape_(landscape), searcher_(searcher), replay_(replay), seed_(seed) {}

  Steps in_sequence() {
    double now = 0;
    while (goes_on(now)) {
      const std::vector<Candidate> asked = searcher_.ask(1);
      if (asked.empty()) break;
      const std::uint32_t row = space_.row(asked[0]);
      now += record(row).cost();
      tell(asked[0], row, now);
    }
    return std::move(steps_);
  }

  Steps with_workers() {
    idle_ = replay_.workers;
    for (double now = 0;;) {
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

 private:
  struct Event {
    double at;
    std::size_t item;
    bool built;  // else: run
    // The earliest on top; at the same time what was asked first.
    bool operator<(const Event& other) const { return std::tie(at, item) > std::tie(other.at, other.item); }
  };

  const Record& record(std::uint32_t row) const { return space_.records().records[row]; }
  bool goes_on(double now) const {
    return now < replay_.seconds || static_cast<std::int64_t>(steps_.size()) < replay_.evaluations;
  }

  void start_builds(double now) {
    while (idle_ > 0 && outstanding_ <= replay_.workers && goes_on(now)) {
      std::vector<Candidate> asked = searcher_.ask(1);
      if (asked.empty()) return;
      --idle_;
      ++outstanding_;
      events_.push({now + record(space_.row(asked[0])).build_seconds, items_.size(), true});
      items_.push_back(std::move(asked[0]));
    }
  }

  void start_run(double now) {
    if (device_busy_ || ready_.empty()) return;
    device_busy_ = true;
    events_.push({now + record(space_.row(items_[ready_.front()])).run_seconds, ready_.front(), false});
    ready_.pop_front();
  }

  void tell(const Candidate& candidate, std::uint32_t row, double now) {
    const Outcome& recorded = record(row).outcome;
    double us = recorded.microseconds;
    if (recorded.ok() && replay_.noisy) {
      us = resampled(space_.records(), row, seed_);
      searcher_.tell(candidate, {Status::ok, us, "", recorded.seconds});
    } else {
      searcher_.tell(candidate, recorded);
    }
    if (recorded.ok() && us < best_) {
      best_ = us;
      rank_ = static_cast<float>(landscape_.rank(row));
    }
    steps_.push_back({static_cast<float>(now), rank_});
  }

  const TableSpace& space_;
  const Landscape& landscape_;
  Searcher& searcher_;
  const Replay& replay_;
  std::uint64_t seed_;
  Steps steps_;
  double best_ = std::numeric_limits<double>::infinity();
  float rank_ = 0;
  // With workers:
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
  return replay.workers == 0 ? replayer.in_sequence() : replayer.with_workers();
}

}  // namespace deplo::search
