#include "engine/tune/tune.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/trail.h"
#include "deplo/deplo.h"
#include "engine/compile/tuned.h"
#include "library/errors.h"
#include "library/source.h"

namespace deplo {
namespace {

/// The text is an experiment of `deplo tune`, too: it is stored with the run.
engine::Experiment experiment_of(const Source& source, const TuneOptions& options) {
  using nlohmann::json;
  nlohmann::ordered_json text;
  text["device"] = options.device;
  text["search"] = {{"strategy", options.strategy}, {"seed", options.seed}};
  text["budget"] = {{"time", options.seconds}, {"trials", options.trials}, {"patience", options.patience}};
  text["kernels"] = {nlohmann::ordered_json::parse(experiment_entry(source))};
  return engine::parse_experiment(text.dump(-1, ' ', false, json::error_handler_t::replace), "deplo::tune", "");
}

Trial public_trial(const engine::TrialNews& news) {
  const Outcome& outcome = news.measured.outcome;
  Trial trial;
  trial.kernel = news.row.name;
  trial.trail = print(news.candidate->trail());
  trial.status = status_name(outcome.status);
  trial.message = outcome.message;
  trial.microseconds = outcome.ok() ? outcome.microseconds : 0;
  trial.known = news.measured.known;
  trial.best_us = news.row.best_us;
  return trial;
}

Tuned public_row(const engine::Row& row) {
  Tuned tuned;
  tuned.kernel = row.name;
  tuned.heuristic_us = row.heuristic_us;
  tuned.best_us = row.best_us;
  tuned.trail = row.trail;
  tuned.confirmed = row.confirmed;
  tuned.trials = row.trials;
  tuned.stop = row.stop;
  tuned.last_fault = row.fault;
  return tuned;
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
    std::vector<Tuned> result;
    for (const engine::Row& row : board.read().rows) result.push_back(public_row(row));
    return result;
  });
}

}  // namespace deplo
