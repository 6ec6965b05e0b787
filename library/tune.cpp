#include "engine/tune/tune.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "core/mapped.h"
#include "core/trail.h"
#include "deplo/deplo.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment_text.h"
#include "library/errors.h"
#include "library/source.h"

namespace deplo {
namespace {

constexpr const char* place = "deplo::tune:1";  // in messages: line 1 of the text that is stored with the run

template <class Number>
void check_range(const char* name, Number value, const char* kind, Number min, Number max) {
  if (!(value >= min && value <= max))
    throw Error(fmt::format("{}: {}: expected {} between {} and {}, found '{}'", place, name, kind, min, max, value));
}

engine::Experiment experiment_of(const Source& source, const TuneOptions& options) {
  engine::check_device(options.device, place);
  engine::check_strategy(options.strategy, place);
  if (options.seed < 0)
    throw Error(fmt::format("{}: seed: expected an integer of at least 0, found '{}'", place, options.seed));
  check_range("seconds", options.seconds, "a number", 0.0, engine::max_seconds);
  check_range("trials", options.trials, "an integer", std::int64_t{1}, engine::max_count);
  check_range("patience", options.patience, "an integer", std::int64_t{1}, engine::max_count);
  if (source.name.empty()) throw Error(fmt::format("{}: expected a name of the source, found none", place));
  engine::Experiment experiment;
  experiment.file = "deplo::tune";
  experiment.device = options.device;
  experiment.strategy = options.strategy;
  experiment.options.seed = static_cast<std::uint64_t>(options.seed);
  experiment.seconds = options.seconds;
  experiment.trials = options.trials;
  experiment.patience = options.patience;
  engine::Entry entry{source_of(source, place), source.name, place};
  experiment.text = print(experiment, entry);
  engine::Inputs none;
  engine::add(experiment, entry, none, engine::fusion_target("auto", options.device));
  experiment.kernels = engine::merge_equal(std::move(experiment.kernels));
  return experiment;
}

Trial public_trial(const engine::TrialNews& news) {
  const Outcome& outcome = news.measured.outcome;
  return {.kernel = news.row.name,
          .trail = print(news.candidate->trail()),
          .status = std::string(status_name(outcome.status)),
          .message = outcome.message,
          .microseconds = outcome.ok() ? outcome.microseconds : 0,
          .known = news.measured.known,
          .best_us = news.row.best_us};
}

Tuned public_row(const engine::Row& row) {
  return {.kernel = row.name,
          .heuristic_us = row.heuristic_us,
          .best_us = row.best_us,
          .trail = row.trail,
          .confirmed = row.confirmed,
          .trials = row.trials,
          .alternative = row.alternative,
          .stop = row.stop,
          .last_fault = row.fault};
}

}  // namespace

std::vector<Tuned> tune(const Source& source, const TuneOptions& options,
                        const std::function<bool(const Trial&)>& on_trial) {
  return with_standard_errors([&] {
    const engine::Experiment experiment = experiment_of(source, options);
    engine::TuneOptions own;
    own.store = options.store.empty() ? default_store() : options.store;
    if (on_trial) own.on_trial = [&](const engine::TrialNews& news) { return on_trial(public_trial(news)); };
    Progress silent(stderr, true);
    engine::Board board;
    engine::tune(experiment, own, silent, board);
    return mapped(board.read().rows, public_row);
  });
}

}  // namespace deplo
