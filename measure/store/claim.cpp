// Tuners that share a store do not measure the same candidate: the first tuner measures it, the others wait for its
// trial.
#include <fmt/format.h>

#include "measure/store/evidence.h"
#include "measure/store/retry.h"
#include "measure/store/state.h"

namespace deplo::measure {
namespace {

// Returns a query for rows of the same kernel, source, protocol and stage on the same device.
std::string select_same(std::string_view table, std::string_view condition) {
  return fmt::format(
      "SELECT c.id FROM {} c JOIN run r ON r.id = c.run WHERE c.kernel = ? AND c.digest = ? AND c.protocol = ? AND "
      "c.stage = ? AND r.device = ? AND {}",
      table, condition);
}

void bind(sqlite::Statement& select, const TrialRecord& trial, std::int64_t device) {
  select.bind(1, trial.kernel).bind(2, trial.digest).bind(3, trial.protocol).bind(4, name(trial.stage));
  select.bind(5, device);
}

}  // namespace

Claim Store::claim(const TrialRecord& trial, std::int64_t device, std::int64_t since) {
  return state_->write([&](State& state) {
    Claim claim;
    // A trial that was lost, perhaps with its tuner, is not finished: it says nothing about the candidate.
    const auto is_open = [](Status status) { return transient(status) || uninformative(status); };
    sqlite::Statement finished(
        *state.database,
        select_same("trial",
                    fmt::format("c.id > ? AND c.status NOT IN ({}) ORDER BY c.id DESC LIMIT 1", statuses(is_open))));
    bind(finished, trial, device);
    sqlite::Statement taken(*state.database, select_same("running", "c.run <> ?"));
    bind(taken, trial, device);
    if (finished.bind(6, since).step()) {
      sqlite::Statement read(*state.database, fmt::format("SELECT {} FROM trial t WHERE t.id = ?", trial_columns()));
      CHECK(read.bind(1, finished.integer(0)).step());
      claim.done = read_trial(read);
    } else if (!taken.bind(6, trial.run).step()) {
      claim.running = state.announce(trial);
    }
    return claim;
  });
}

std::int64_t Store::begin(const TrialRecord& trial) {
  return state_->write([&](State& state) { return state.announce(trial); });
}

std::int64_t Store::latest_trial() {
  return state_->read([&] { return state_->database->integer("SELECT ifnull(max(id), 0) FROM trial"); });
}

}  // namespace deplo::measure
